import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { addStores } from './testing/add-stores.ts';
import { startTestStoreApi, type TestApiKey, type TestResponse, type TestStoreApi } from './testing/start-test-store-api.ts';

// Clients without a key, and keys with more load than others, leave connections to the rest. These tests do not measure time.

const CONNECTIONS = 8;
const UNKNOWN = 300;

let api: TestStoreApi;
beforeAll(async () => {
  api = await startTestStoreApi({
    STORE_API_STORAGE_CONNECTIONS: String(CONNECTIONS),
    STORE_API_LOG_ACCESS: 'true',
    STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_ENABLED: 'true',
    STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_PUBLIC: 'true',
  });
  await addStores(api.database.owner, { matched: ['fresh.com'] });
});
afterAll(async () => api[Symbol.asyncDispose]());

let tokens = 0;
const unknownToken = () => `svc_live_u${String((tokens += 1)).padStart(42, '0')}`;
const getStore = (token: string) => api.request('/v1/stores/fresh.com', { token });
async function valueOf(name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const samples = parseScrape((await api.request('/metrics')).text, 'classic').flatMap((family) => family.samples);
  const isWanted = (of: Readonly<Record<string, string>>) =>
    Object.entries(labels).every(([label, value]) => of[label] === value);
  return samples.find((sample) => sample.name === name && isWanted(sample.labels))?.value ?? Number.NaN;
}
/** Running statements of the service, selected by prefix. */
async function running(beginning: string): Promise<number> {
  const text = `SELECT count(*)::integer AS n FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'vitrine-store-api' AND state = 'active' AND query LIKE $1`;
  return (await api.database.owner.query<{ n: number }>(text, [`${beginning}%`]))[0]?.n ?? 0;
}
const IDENTIFY = 'SELECT CASE WHEN k.revoked_at';
const ADMIT = 'SELECT * FROM admit_request';

/** Runs `work` while `statement` has locked its objects. Unlocks them when `work` has ended. */
const whileLocked = <T>(statement: string, values: readonly unknown[], work: () => Promise<T>): Promise<T> =>
  api.database.owner.transaction(async (transaction) => {
    await transaction.query(statement, values);
    return work();
  });
/** Distinct statuses without counts. */
const statusesOf = async (responses: readonly Promise<TestResponse>[]) => [
  ...new Set((await Promise.all(responses)).map(({ status }) => status)),
];

test('unknown tokens use two connections, and a known key gets another', async () => {
  const { token } = await api.addKey({ plan: 'growth' });
  expect((await getStore(token)).status).toBe(200);
  const [unknown, known] = await whileLocked('LOCK TABLE api_keys', [], async () => {
    const crowd = Array.from({ length: UNKNOWN }, () => getStore(unknownToken()));
    await waitUntil(async () => (await running(IDENTIFY)) > 0, { what: 'lookups of tokens' });
    const paying = getStore(token);
    await waitUntil(async () => (await running(ADMIT)) === 1, { what: 'the admission of the known key' });
    expect(await running(IDENTIFY)).toBe(2);
    return [crowd, paying];
  });
  expect((await known).status).toBe(200);
  // 503: for requests that reached the maximum wait.
  expect([401, 503]).toEqual(expect.arrayContaining(await statusesOf(unknown)));
  expect(await valueOf('svc_store_api_bound_limit', { bound: 'unseen_tokens' })).toBe(2);
});

test('unauthenticated requests write at most 20 lines a second, and each is counted', async () => {
  const before = await valueOf('svc_store_api_rejection_total', { reason: 'missing_key' });
  const suppressed = await valueOf('svc_store_api_log_line_suppressed_total', {});
  const lines = () => api.log.filter((line) => line.includes('"reason":"missing_key"')).length;
  await Promise.all(Array.from({ length: UNKNOWN }, () => api.request('/v1/account')));
  expect(await valueOf('svc_store_api_rejection_total', { reason: 'missing_key' })).toBe(before + UNKNOWN);
  const unwritten = (await valueOf('svc_store_api_log_line_suppressed_total', {})) - suppressed;
  // Scrapes have no key either.
  expect(lines() + unwritten).toBeGreaterThanOrEqual(UNKNOWN);
  expect(unwritten).toBeGreaterThan(0);
  expect(await valueOf('svc_store_api_refusal_delayed_total', {})).toBeGreaterThan(0);
});

test('an unknown token is refused for some seconds without the database', async () => {
  const token = unknownToken();
  expect((await getStore(token)).status).toBe(401);
  await whileLocked('LOCK TABLE api_keys', [], async () => expect((await getStore(token)).status).toBe(401));
});

/** Keys of one workspace that this process has seen. */
async function seenKeys(count: number, plan: 'free' | 'growth' = 'growth'): Promise<TestApiKey[]> {
  const workspace = (workspaces += 1);
  const keys = [];
  for (let n = 0; n < count; n += 1) keys.push(await api.addKey({ plan, workspace }));
  for (const { token } of keys) expect((await getStore(token)).status).toBe(200);
  return keys;
}
let workspaces = 1_000;

test.each([
  ['counter', 'SELECT FROM usage_counters WHERE workspace_id = $1 FOR UPDATE', 'WITH counted', 'workspace_id'],
  ['minute', 'SELECT FROM rate_windows WHERE key_id = $1 FOR UPDATE', ADMIT, 'key_id'],
] as const)(
  'a workspace whose %s is locked takes half of the connections, and another is served',
  async (_, lock, statement, of) => {
    const [first, ...others] = await seenKeys(3);
    const [neighbour] = await seenKeys(1);
    if (first === undefined || neighbour === undefined) throw new Error('there are keys');
    const tokens = of === 'key_id' ? [first.token] : [first, ...others].map(({ token }) => token);
    const stuck = await whileLocked(lock, [first[of]], async () => {
      const requests = tokens.flatMap((token) => Array.from({ length: 9 }, () => getStore(token)));
      await waitUntil(async () => (await running(statement)) === CONNECTIONS / 2, { what: 'half of the connections' });
      for (let n = 0; n < 10; n += 1) expect((await getStore(neighbour.token)).status).toBe(200);
      // A key that is new to this process is served as well.
      expect((await getStore((await api.addKey({ plan: 'growth' })).token)).status).toBe(200);
      expect(await running(statement)).toBe(CONNECTIONS / 2);
      return requests;
    });
    expect([200, 503]).toEqual(expect.arrayContaining(await statusesOf(stuck)));
  },
);

test('requests far beyond the plan of a key are refused before they wait for a connection', async () => {
  const [key] = await seenKeys(1, 'free');
  if (key === undefined) throw new Error('there is a key');
  const before = await valueOf('svc_store_api_overloaded_total', { bound: 'key' });
  const responses = await whileLocked('SELECT FROM rate_windows WHERE key_id = $1 FOR UPDATE', [key.key_id], async () => {
    const requests = Array.from({ length: 60 }, () => getStore(key.token));
    const first = await Promise.race(requests);
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1']);
    expect(first.json).toMatchObject({ error: { code: 'overloaded' } });
    return requests;
  });
  expect([200, 429, 503]).toEqual(expect.arrayContaining(await statusesOf(responses)));
  // 2 of the plan and 16 more may be in flight.
  expect((await valueOf('svc_store_api_overloaded_total', { bound: 'key' })) - before).toBe(42);
});

test('the connection of a client that leaves is returned when its statement ends, and not before', async () => {
  const [key] = await seenKeys(1);
  if (key === undefined) throw new Error('there is a key');
  const statement = 'WITH counted';
  await whileLocked('SELECT FROM usage_counters WHERE workspace_id = $1 FOR UPDATE', [key.workspace_id], async () => {
    for (let round = 1; round <= 3; round += 1) {
      const leaving = new AbortController();
      const headers = { Authorization: `Bearer ${key.token}` };
      const left = Array.from({ length: 4 }, () =>
        fetch(`${api.url}/v1/stores/fresh.com`, { headers, signal: leaving.signal }).catch(() => undefined),
      );
      await waitUntil(async () => (await running(statement)) === CONNECTIONS / 2, { what: 'half of the connections' });
      leaving.abort();
      await Promise.all(left);
      expect(await running(statement)).toBeLessThanOrEqual(CONNECTIONS / 2);
    }
  });
});

test('when no connection becomes free in time, requests get 503 with Retry-After, never 500', async () => {
  const tokens = (await Promise.all([seenKeys(1), seenKeys(1), seenKeys(1)])).flat().map(({ token }) => token);
  const responses = await whileLocked('LOCK TABLE stores', [], async () => {
    const requests = tokens.flatMap((token) => Array.from({ length: 9 }, () => getStore(token)));
    const first = await Promise.race(requests);
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1']);
    return requests;
  });
  expect([200, 503]).toEqual(expect.arrayContaining(await statusesOf(responses)));
});
