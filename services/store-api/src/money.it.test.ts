import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reconcileUsage } from '@vitrine/stores/metering/usage-reports';
import { addKey, storeDatabase, tokenOf, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { addStores } from './testing/add-stores.ts';
import { sendPaid, type PaidRequest, type Told } from './testing/paying-client.ts';
import { startReplica, untilSessionsEnd, type Replica } from './testing/replica-process.ts';

// Responses, counters and ledger must agree despite replays, exhausted allowances, clients that leave, and a killed replica. These tests
// do not depend on timing.

const CLIENTS = 64;
const REQUESTS = 6;
/** Unknown domains that many requests want scanned. Each is billed once, to the first request. */
const SHARED = Array.from({ length: 30 }, (_, n) => `shared-${n}.com`);
/** Timeout for a slow or paused machine. The test alone takes 20 s. */
const TIMEOUT_MS = 900_000;
const MAX_ATTEMPTS = 200;
const KEYS = 8;
const LIMITS = { rpm: 1_000_000, concurrency: 10_000, freshnessDays: 30, historyDays: 30, enrichBatchMax: 25 };
/** Allowances. The first two are used up while the clients work. */
const PLANS = {
  free: { lookup_cached: 60, live: 0 },
  pro: { lookup_cached: 250, live: 12 },
  growth: { lookup_cached: 100_000, live: 1_000 },
  partner: { lookup_cached: 0, live: 0 },
} as const;

interface Outcome {
  readonly request: PaidRequest;
  /** Domains of a store that no other request uses. */
  readonly own: readonly string[];
  readonly workspace_id: string;
  readonly told: readonly Told[];
}
interface LedgerRow {
  readonly workspace_id: string;
  readonly operation_id: string;
  readonly domain: string;
  readonly unit: string;
}

let database: StoreDatabase;
const workspaces = new Map<string, { readonly workspace_id: string; readonly plan: keyof typeof PLANS }>();
beforeAll(async () => {
  database = await storeDatabase();
  for (const [plan, { lookup_cached, live }] of Object.entries(PLANS))
    await database.owner.execute('INSERT INTO plans (name, limits) VALUES ($1, $2)', [
      plan,
      JSON.stringify({
        ...LIMITS,
        liveRefreshesPerPeriod: live,
        included: { lookup_cached, history_query: 0, refresh_requested: 0 },
      }),
    ]);
  for (let n = 0; n < KEYS; n += 1) {
    const plan = (Object.keys(PLANS) as (keyof typeof PLANS)[])[n % 4] ?? 'free';
    // Two keys for each workspace.
    const { workspace_id } = await addKey(database, n, { plan, workspace: n % 4, scopes: ['read:stores', 'write:scans'] });
    workspaces.set(tokenOf(n), { workspace_id, plan });
  }
  const own = Array.from({ length: CLIENTS * REQUESTS }, (_, n) => n);
  await addStores(database.owner, {
    matched: own.flatMap((n) => [`own-${n}-a.com`, `own-${n}-b.com`, `own-${n}-c.com`]),
    stale: own.map((n) => `own-${n}-old.com`),
  });
});
afterAll(async () => database[Symbol.asyncDispose]());

/** Choices are the same in every run, but their interleaving depends on the machine. */
function choices(seed: string): (below: number) => number {
  let n = 0;
  return (below) =>
    createHash('sha256')
      .update(`${seed} ${(n += 1)}`)
      .digest()
      .readUInt32BE() % below;
}

/** The n-th of all requests. */
function requestOf(n: number, choose: (below: number) => number): PaidRequest & { readonly own: readonly string[] } {
  const token = tokenOf(choose(KEYS));
  const idempotencyKey = choose(2) === 0 ? undefined : `request-${n}-of-the-test`;
  const stores = [`own-${n}-a.com`, `own-${n}-b.com`, `own-${n}-c.com`].slice(0, 1 + choose(3));
  if (choose(4) === 0)
    return { kind: 'get', domains: stores.slice(0, 1), own: stores.slice(0, 1), refresh: false, idempotencyKey, token };
  const refresh = choose(2) === 0;
  const stale = choose(2) === 0 ? [`own-${n}-old.com`] : [];
  const unknown = Array.from({ length: choose(3) }, () => SHARED[choose(SHARED.length)] ?? '');
  const own = [...stores, ...stale];
  return { kind: 'enrich', domains: [...own, ...unknown, `www.${own[0]}`, 'localhost'], own, refresh, idempotencyKey, token };
}

/** Sends a request like a client that needs the result: with an Idempotency-Key it retries until it gets a response, otherwise it sends once. */
async function pay(
  n: number,
  replicas: () => readonly Replica[],
  agent: Agent,
  choose: (below: number) => number,
): Promise<Outcome> {
  const { own, ...request } = requestOf(n, choose);
  const told: Told[] = [];
  const leaves = choose(5) === 0;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const alive = replicas();
    const { url } = alive[choose(alive.length)] as Replica;
    const leaveAfterMs = leaves && attempt === 0 ? choose(30) : undefined;
    told.push(await sendPaid(url, request, { agent, leaveAfterMs }));
    if (request.idempotencyKey === undefined) break;
    const last = told.at(-1);
    const isFinal = last?.kind === 'response' && last.status < 500;
    // Some repeat a request that was already answered.
    if (isFinal && (attempt > 0 || choose(3) > 0)) break;
    if (!isFinal) await wait(20);
  }
  return { request, own, workspace_id: workspaces.get(request.token)?.workspace_id ?? '', told };
}

const isBilled = (told: Told) => told.kind === 'response' && told.status === 200;
const billedOf = (told: Told) => {
  if (told.kind !== 'response') return undefined;
  const body = JSON.parse(told.text) as { billed?: { lookup_cached: number; lookup_live: number } };
  return body.billed ?? { lookup_cached: 1, lookup_live: 0 };
};

/** The contradiction between a response and the ledger; undefined if there is none. */
function differenceOf(
  { request, own, workspace_id, told }: Outcome,
  ledger: ReadonlyMap<string, readonly LedgerRow[]>,
): string | undefined {
  const operations = new Set(own.flatMap((domain) => ledger.get(domain) ?? []).map(({ operation_id }) => operation_id));
  if (operations.size > 1) return `billed ${operations.size} times`;
  const rows = [...operations].flatMap((operation) => ledger.get(operation) ?? []);
  if (rows.some((row) => row.workspace_id !== workspace_id)) return 'billed to another workspace';
  const successes = told.filter(isBilled);
  const texts = new Set(successes.map((response) => (response.kind === 'response' ? response.text : '')));
  if (texts.size > 1) return 'told two different responses';
  if (successes.length === 0) {
    if (rows.length > 0 && told.every(({ kind }) => kind === 'response')) return 'billed for an error';
    if (rows.length > 0 && rows.filter(({ unit }) => unit === 'lookup_cached').length !== own.length) return 'billed in part';
    return undefined;
  }
  const units = (unit: string) => rows.filter((row) => row.unit === unit).length;
  const billed = billedOf(successes[0] as Told);
  if (billed?.lookup_cached !== units('lookup_cached') || billed.lookup_live !== units('lookup_live'))
    return `told ${JSON.stringify(billed)}, billed ${units('lookup_cached')} and ${units('lookup_live')}`;
  return billed.lookup_cached === own.length
    ? undefined
    : `${request.kind} of ${own.length} stores was billed ${billed.lookup_cached}`;
}

test(
  '64 clients and two replicas, one of them killed: counters, ledger and what clients were told agree',
  async () => {
    await using stack = new AsyncDisposableStack();
    const [first, second] = await Promise.all([startReplica(database), startReplica(database)]);
    stack.use(first);
    stack.use(second);
    let alive: readonly Replica[] = [first, second];
    let done = 0;
    const outcomes: Outcome[] = [];
    const work = Array.from({ length: CLIENTS }, async (_, client) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const choose = choices(`client ${client}`);
      for (let n = 0; n < REQUESTS; n += 1) {
        outcomes.push(await pay(client * REQUESTS + n, () => alive, agent, choose));
        done += 1;
      }
      agent.destroy();
    });
    await waitUntil(() => done > (CLIENTS * REQUESTS) / 3, { what: 'a third of the requests', timeoutMs: TIMEOUT_MS / 2 });
    second.signal('SIGKILL');
    alive = [first];
    const third = stack.use(await startReplica(database));
    alive = [first, third];
    await Promise.all(work);
    for (const replica of alive) replica.signal('SIGTERM');
    for (const replica of alive) expect(await replica.ended).toBe(0);
    await untilSessionsEnd(database);

    const rows = await database.owner.query<LedgerRow>('SELECT workspace_id, operation_id, domain, unit FROM ledger');
    const byDomainAndOperation = new Map([
      ...Map.groupBy(rows, ({ domain }) => domain),
      ...Map.groupBy(rows, ({ operation_id }) => operation_id),
    ]);
    const differences = outcomes.flatMap((outcome) => {
      const difference = differenceOf(outcome, byDomainAndOperation);
      return difference === undefined ? [] : [`${difference}: ${JSON.stringify(outcome.request)}`];
    });
    expect(differences).toEqual([]);
    expect(await reconcileUsage(database.as('vitrine_store_api'))).toEqual([]);

    // Every ledger operation was sent by a client, and no scan is billed twice or without its job.
    const own = new Set(outcomes.flatMap((outcome) => outcome.own));
    const orphans = [...Map.groupBy(rows, ({ operation_id }) => operation_id).values()].filter(
      (of) => !of.some(({ domain }) => own.has(domain)),
    );
    expect(orphans).toEqual([]);
    const live = rows.filter(({ unit }) => unit === 'lookup_live').map(({ domain }) => domain);
    const jobs = (await database.owner.query<{ domain: string }>('SELECT domain FROM scan_jobs')).map(({ domain }) => domain);
    expect(live.toSorted()).toEqual(jobs.toSorted());
    const messages = (await database.owner.query<{ key: string }>('SELECT key FROM outbox')).map(({ key }) => key);
    expect(messages.toSorted()).toEqual(jobs.toSorted());

    for (const { workspace_id, plan } of new Set(workspaces.values())) {
      const units = rows.filter((row) => row.workspace_id === workspace_id);
      if (plan === 'partner') continue;
      expect([plan, units.filter(({ unit }) => unit === 'lookup_cached').length <= PLANS[plan].lookup_cached]).toEqual([
        plan,
        true,
      ]);
      expect([plan, units.filter(({ unit }) => unit === 'lookup_live').length <= PLANS[plan].live]).toEqual([plan, true]);
    }
    // The edge cases occurred.
    const statuses = new Set(
      outcomes.flatMap(({ told }) => told.map((one) => (one.kind === 'response' ? one.status : one.kind))),
    );
    expect([200, 402, 'unknown'].filter((status) => !statuses.has(status as 200))).toEqual([]);
    const replays = outcomes.flatMap(({ told }) =>
      told.filter((one) => one.kind === 'response' && one.headers['idempotent-replayed'] === 'true'),
    );
    expect(replays.length).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
