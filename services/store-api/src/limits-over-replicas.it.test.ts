import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addKey, storeDatabase, tokenOf, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { addStores } from './testing/add-stores.ts';
import { startReplica, type Replica } from './testing/replica-process.ts';

// Limits of a key apply across all replicas. These tests do not measure time, and read clocks from the database.

const TIMEOUT_MS = 600_000;
const WINDOW_MS = 60_000;
const LEASE_MS = 15_000;
const CONCURRENCY = 3;
const AT_ONCE = 24;
const MAX_ATTEMPTS = 20;

let database: StoreDatabase;
let replicas: Replica[];
let n = 0;
beforeAll(async () => {
  database = await storeDatabase();
  await addStores(database.owner, { matched: ['fresh.com'] });
  replicas = await Promise.all([startReplica(database), startReplica(database)]);
}, TIMEOUT_MS);
afterAll(async () => {
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** A key of a plan with these limits. */
async function keyWith(plan: 'free' | 'pro' | 'growth', limits: { readonly rpm: number; readonly concurrency: number }) {
  const others = { freshnessDays: 30, historyDays: 30, enrichBatchMax: 25, liveRefreshesPerPeriod: 0 };
  const included = { lookup_cached: 1_000_000, history_query: 0, refresh_requested: 0 };
  await database.owner.execute('INSERT INTO plans (name, limits) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET limits = $2', [
    plan,
    JSON.stringify({ ...limits, ...others, included }),
  ]);
  n += 1;
  return { token: tokenOf(n), ...(await addKey(database, n, { plan })) };
}
const replicaOf = (turn: number) => replicas[turn % replicas.length] as Replica;
async function getAccount(turn: number, token: string): Promise<number> {
  const response = await fetch(`${replicaOf(turn).url}/v1/account`, { headers: { Authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.status;
}
/** The status; undefined when the connection broke. */
function enrich(turn: number, token: string): Promise<number | undefined> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return fetch(`${replicaOf(turn).url}/v1/stores/enrich`, { method: 'POST', headers, body: '{"domains":["fresh.com"]}' }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => undefined,
  );
}
const databaseTime = async () =>
  (await database.owner.query<{ at: number }>('SELECT clock_timestamp() AS at'))[0]?.at ?? Number.NaN;
/** The slots used by a key, and the longest remaining lease. */
async function leasesOf(keyId: string) {
  const text = `SELECT count(*) AS held, coalesce(max(extract(epoch FROM expires_at - clock_timestamp()) * 1000), 0)::float8 AS left_ms
    FROM request_leases WHERE key_id = $1 AND expires_at > clock_timestamp()`;
  const [row] = await database.owner.query<{ held: number; left_ms: number }>(text, [keyId]);
  return { held: row?.held ?? 0, leftMs: row?.left_ms ?? 0 };
}

test(
  'two replicas together admit at most rpm requests in a minute',
  async () => {
    const rpm = 40;
    const { token } = await keyWith('free', { rpm, concurrency: 1_000 });
    const startedAt = await databaseTime();
    const statuses: number[] = [];
    for (let turn = 0; turn < 3 * rpm; turn += AT_ONCE)
      statuses.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => getAccount(turn + at, token)))));
    // One minute, unless the machine paused for longer than that.
    const windows = Math.ceil(((await databaseTime()) - startedAt) / WINDOW_MS);
    const admitted = statuses.filter((status) => status === 200).length;
    expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
    expect(admitted).toBeGreaterThanOrEqual(rpm);
    expect(admitted).toBeLessThanOrEqual(rpm * windows);
  },
  TIMEOUT_MS,
);

/** Runs `work` while the maximum number of requests is in flight, waiting for a locked table. Retries if they did not wait until the end of
 *  `work`, because a request ends after 10 s. A request whose replica was killed counts as waiting. Resolves with their statuses after the table
 *  is unlocked. */
async function whileInFlight<T>(token: string, keyId: string, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    await waitUntil(async () => (await leasesOf(keyId)).held === 0, { what: 'free slots', timeoutMs: TIMEOUT_MS / 4 });
    const ended = { count: 0 };
    let requests: Promise<unknown>[] = [];
    const lockAndWork = database.owner.transaction(async (transaction) => {
      await transaction.execute('LOCK TABLE stores IN ACCESS EXCLUSIVE MODE');
      requests = Array.from({ length: CONCURRENCY }, (_, turn) =>
        enrich(turn, token).then((status) => (ended.count += Number(status !== undefined))),
      );
      const areHeld = async () => ended.count > 0 || (await leasesOf(keyId)).held === CONCURRENCY;
      await waitUntil(areHeld, { what: 'requests in flight', timeoutMs: TIMEOUT_MS / 4 });
      const value = ended.count === 0 ? await work() : undefined;
      return value === undefined || ended.count > 0 ? undefined : { value };
    });
    // The server also ends a transaction that waits for longer than 10 s.
    const result = await lockAndWork.catch(() => undefined);
    await Promise.all(requests);
    if (result !== undefined) return result.value;
  }
  throw new Error(`${CONCURRENCY} requests were never in flight for long enough`);
}

test(
  'two replicas together admit at most concurrency requests in flight, and others when one of those has ended',
  async () => {
    const { token, key_id } = await keyWith('pro', { rpm: 1_000_000, concurrency: CONCURRENCY });
    const statuses = await whileInFlight(token, key_id, () =>
      Promise.all([0, 1, 2, 3, 4, 5].map((turn) => getAccount(turn, token))),
    );
    expect(statuses).toEqual([503, 503, 503, 503, 503, 503]);
    await waitUntil(async () => (await leasesOf(key_id)).held === 0, { what: 'free slots', timeoutMs: TIMEOUT_MS / 4 });
    expect([await getAccount(0, token), await getAccount(1, token)]).toEqual([200, 200]);
  },
  TIMEOUT_MS,
);

test(
  'a revoked key is refused by every replica at its next request',
  async () => {
    const { token, key_id } = await keyWith('growth', { rpm: 1_000_000, concurrency: 1_000 });
    expect([await getAccount(0, token), await getAccount(1, token)]).toEqual([200, 200]);
    await database.owner.execute('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key_id]);
    expect([await getAccount(0, token), await getAccount(1, token)]).toEqual([401, 401]);
  },
  TIMEOUT_MS,
);

test(
  'the slots of a replica that was killed are free after their lease, which is at most 15 s',
  async () => {
    const { token, key_id } = await keyWith('growth', { rpm: 1_000_000, concurrency: CONCURRENCY });
    const killed = await startReplica(database);
    const survivors = replicas;
    replicas = [killed];
    const { leftMs } = await whileInFlight(token, key_id, async () => {
      killed.signal('SIGKILL');
      replicas = survivors;
      return leasesOf(key_id);
    });
    expect(leftMs).toBeLessThanOrEqual(LEASE_MS);
    await waitUntil(async () => (await getAccount(0, token)) === 200, { what: 'a free slot', timeoutMs: TIMEOUT_MS / 4 });
    await killed[Symbol.asyncDispose]();
  },
  TIMEOUT_MS,
);
