import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reconcileUsage } from '@vitrine/stores/metering/usage-reports';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startTestStoreApi, type TestStoreApi } from '../testing/start-test-store-api.ts';

const DAY_MS = 86_400_000;
const DOMAIN = 'example.com';
let api: TestStoreApi;
let profile: string;
beforeAll(async () => {
  api = await startTestStoreApi();
  await api.addDemoStore();
  const [row] = await api.database.owner.query<{ profile: string }>('SELECT profile FROM stores WHERE domain = $1', [DOMAIN]);
  profile = row?.profile ?? '';
});
afterAll(async () => {
  expect(await reconcileUsage(api.database.owner)).toEqual([]);
  await api[Symbol.asyncDispose]();
});

const usedBy = async (token: string) => {
  const { json } = await api.request('/v1/account', { token });
  return (json as { period: { used: { lookup_cached: number } } }).period.used.lookup_cached;
};
const codeOf = (json: Readonly<Record<string, unknown>>) => (json as { error?: { code: string } }).error?.code;

test('a profile is returned byte for byte as stored and costs one lookup_cached', async () => {
  const { token } = await api.addKey({ plan: 'free' });
  for (const input of [DOMAIN, 'WWW.Example.com.', encodeURIComponent('https://www.example.com/products?x=1#y')]) {
    const { status, text } = await api.request(`/v1/stores/${input}`, { token });
    expect([status, text]).toEqual([200, `{"match":"matched","store":${profile}}`]);
  }
  const { headers } = await api.request(`/v1/stores/${DOMAIN}`, { token });
  expect(['x-usage-remaining', 'x-ratelimit-limit', 'x-ratelimit-remaining'].map((name) => headers.get(name))).toEqual([
    '21',
    '30',
    '26',
  ]);
  expect(await usedBy(token)).toBe(4);
});

test.each([
  ['that nobody knows', 'unknown.com'],
  ['that is no domain', 'localhost'],
  ['with a malformed escape', '%zz'],
  ['with half a character', '%e4'],
  ['with a NUL', 'example.com%00'],
  ['that is longer than any domain', `${'a'.repeat(4_000)}.com`],
  ['of odd Unicode', encodeURIComponent('exa\u200bmple\ud83d\ude00.com\u202e')],
  ['named as what objects have', '__proto__'],
])('a domain %s is 404 and free', async (_, input) => {
  const { token } = await api.addKey();
  const { status, json } = await api.request(`/v1/stores/${input}`, { token });
  expect([status, codeOf(json), await usedBy(token)]).toEqual([404, 'not_found', 0]);
});

test('If-None-Match with the ETag is 304 without a body, and free; another one is 200', async () => {
  const { token } = await api.addKey();
  const first = await api.request(`/v1/stores/${DOMAIN}`, { token });
  const etag = first.headers.get('etag') ?? '';
  const get = (headers: Record<string, string>) => api.request(`/v1/stores/${DOMAIN}`, { token, headers });
  for (const sent of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
    const { status, text, headers } = await get({ 'If-None-Match': sent });
    expect([sent, status, text, headers.get('etag')]).toEqual([sent, 304, '', etag]);
  }
  const withKey = { 'If-None-Match': etag, 'Idempotency-Key': 'conditional-1' };
  expect((await get(withKey)).status).toBe(304);
  expect(await usedBy(token)).toBe(1);
  // The 304 was not stored, so the key is still unused.
  const { status, headers } = await get({ 'If-None-Match': '"other"', 'Idempotency-Key': 'conditional-1' });
  expect([status, headers.get('idempotent-replayed'), await usedBy(token)]).toEqual([200, null, 2]);
});

test('a replay is the identical first response with its id, and bills nothing; another input is a conflict', async () => {
  const { token } = await api.addKey();
  const headers = { 'Idempotency-Key': 'run-1-batch-1' };
  const get = (domain: string, id: string) =>
    api.request(`/v1/stores/${domain}`, { token, headers: { ...headers, 'X-Request-Id': id } });
  const first = await get(DOMAIN, 'first-request');
  const replay = await get(`www.${DOMAIN}`, 'second-request');
  expect([replay.status, replay.text, replay.headers.get('etag')]).toEqual([200, first.text, first.headers.get('etag')]);
  expect(replay.headers.get('x-request-id')).toBe('first-request');
  expect([first, replay].map((response) => response.headers.get('idempotent-replayed'))).toEqual([null, 'true']);
  const conflict = await get('unknown.com', 'third-request');
  expect([conflict.status, codeOf(conflict.json), await usedBy(token)]).toEqual([409, 'conflict', 1]);
  const linked = api.log.find((line) => line.includes('"msg":"response replayed"'));
  expect(linked).toMatch(/"request_id":"second-request".*"replay_of":"first-request"/);

  const notFound = { 'Idempotency-Key': 'run-1-batch-2' };
  const missing = await api.request('/v1/stores/unknown.com', { token, headers: notFound });
  const again = await api.request('/v1/stores/unknown.com', { token, headers: notFound });
  expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([404, missing.text, 'true']);
});

test.each([
  ['too short', 'short'],
  ['too long', 'x'.repeat(129)],
])('an Idempotency-Key that is %s is 400', async (_, key) => {
  const { token } = await api.addKey();
  const { status, json } = await api.request(`/v1/stores/${DOMAIN}`, { token, headers: { 'Idempotency-Key': key } });
  expect([status, json['error']]).toMatchObject([
    400,
    { code: 'invalid_request', message: expect.stringContaining('Idempotency-Key') },
  ]);
});

test('at the end of the allowance a profile is 402 with reset_at, and free operations are served', async () => {
  const key = await api.addKey({ plan: 'free' });
  const { token } = key;
  await api.setUsed(key, 24);
  expect((await api.request(`/v1/stores/${DOMAIN}`, { token })).headers.get('x-usage-remaining')).toBe('0');
  const { status, json, headers } = await api.request(`/v1/stores/${DOMAIN}`, { token });
  const period = (await api.request('/v1/account', { token })).json['period'] as { ends_at: string };
  expect([status, json['error'], headers.get('x-usage-remaining')]).toMatchObject([
    402,
    { code: 'payment_required', reset_at: period.ends_at },
    '0',
  ]);
  expect((await api.request('/v1/stores/unknown.com', { token })).status).toBe(404);
  await api.database.owner.execute('DELETE FROM usage_counters WHERE workspace_id = $1', [key.workspace_id]);
  await api.database.owner.execute('DELETE FROM usage_by_key WHERE workspace_id = $1', [key.workspace_id]);
  await api.database.owner.execute('DELETE FROM ledger WHERE workspace_id = $1', [key.workspace_id]);
});

test('a partner continues beyond the included units, without X-Usage-Remaining', async () => {
  const { token } = await api.addKey({ plan: 'partner' });
  const { status, headers } = await api.request(`/v1/stores/${DOMAIN}`, { token });
  expect([status, headers.get('x-usage-remaining')]).toEqual([200, null]);
});

test('a store observed before the freshness window is stale, has another ETag, and is billed', async () => {
  const { token } = await api.addKey();
  const setAge = (days: number) =>
    api.database.owner.execute('UPDATE stores SET last_completed_scan_at = $2 WHERE domain = $1', [
      DOMAIN,
      new Date(Date.now() - days * DAY_MS),
    ]);
  const fresh = await api.request(`/v1/stores/${DOMAIN}`, { token });
  await setAge(31);
  const stale = await api.request(`/v1/stores/${DOMAIN}`, { token });
  await setAge(0);
  expect([fresh.json['match'], stale.json['match'], stale.json['store']]).toEqual(['matched', 'stale', fresh.json['store']]);
  expect(stale.headers.get('etag')).not.toBe(fresh.headers.get('etag'));
  expect(await usedBy(token)).toBe(2);
});

test('a denied store and one without commerce have no profile', async () => {
  const { token } = await api.addKey();
  const { owner } = api.database;
  await owner.execute(`INSERT INTO domain_denylist (domain, reason) VALUES ($1, 'asked for it')`, [DOMAIN]);
  expect((await api.request(`/v1/stores/${DOMAIN}`, { token })).status).toBe(404);
  await owner.execute('DELETE FROM domain_denylist');
  await owner.execute('UPDATE stores SET profile = NULL, is_ecommerce = false WHERE domain = $1', [DOMAIN]);
  expect((await api.request(`/v1/stores/${DOMAIN}`, { token })).status).toBe(404);
  await owner.execute('UPDATE stores SET profile = $2, is_ecommerce = true WHERE domain = $1', [DOMAIN, profile]);
});

test('usage shows the units of each key', async () => {
  const first = await api.addKey();
  await api.request(`/v1/stores/${DOMAIN}`, { token: first.token });
  const { json } = await api.request('/v1/usage', { token: first.token });
  const used = { lookup_cached: 1, lookup_live: 0, history_query: 0, refresh_requested: 0 };
  expect(json).toMatchObject({ period: { used }, by_key: [{ key_id: first.key_id, label: expect.any(String), used }] });
});

test('the next request of a client finds the slot of the previous one free', async () => {
  const { token } = await api.addKey({ plan: 'free' });
  await api.database.owner.execute(`INSERT INTO plans (name, limits) VALUES ('free', $1)`, [
    JSON.stringify(api.limits('free', { concurrency: 1 })),
  ]);
  try {
    for (let i = 0; i < 20; i += 1) expect((await api.request(`/v1/stores/${DOMAIN}`, { token })).status).toBe(200);
  } finally {
    await api.database.owner.execute(`DELETE FROM plans WHERE name = 'free'`);
  }
});

test('a client that leaves frees its slot at once, and is not billed', async () => {
  const { token, workspace_id, key_id } = await api.addKey();
  const leases = async () => {
    const text = 'SELECT count(*) AS n FROM request_leases WHERE key_id = $1 AND expires_at > now()';
    return (await api.database.owner.query<{ n: number }>(text, [key_id]))[0]?.n;
  };
  await api.database.owner.transaction(async (transaction) => {
    // The request waits for the counter of its workspace, locked by this test.
    await transaction.execute('LOCK TABLE usage_counters IN EXCLUSIVE MODE');
    const leaving = new AbortController();
    const headers = { 'Idempotency-Key': 'left-before-commit', Authorization: `Bearer ${token}` };
    const request = fetch(`${api.url}/v1/stores/${DOMAIN}`, { headers, signal: leaving.signal });
    request.catch(() => {});
    await waitUntil(async () => (await leases()) === 1, { what: 'a lease' });
    leaving.abort();
    await waitUntil(async () => (await leases()) === 0, { what: 'no lease' });
  });
  const again = { token, headers: { 'Idempotency-Key': 'left-before-commit' } };
  const { headers } = await api.request(`/v1/stores/${DOMAIN}`, again);
  const [row] = await api.database.owner.query('SELECT count(*) AS n FROM ledger WHERE workspace_id = $1', [workspace_id]);
  expect([headers.get('idempotent-replayed'), row]).toEqual([null, { n: 1 }]);
});

test('a request that takes longer than 10 s is 500 internal, not billed, and frees its slot', async () => {
  const { token, workspace_id } = await api.addKey();
  const result = await api.database.owner.transaction(async (transaction) => {
    await transaction.execute('LOCK TABLE usage_counters IN EXCLUSIVE MODE');
    const state = { isOver: false };
    const request = api.request(`/v1/stores/${DOMAIN}`, { token }).finally(() => (state.isOver = true));
    // An idle connection would be closed.
    while (!state.isOver) await transaction.query('SELECT pg_sleep(0.1)');
    return request;
  });
  expect([result.status, codeOf(result.json)]).toEqual([500, 'internal']);
  const [row] = await api.database.owner.query('SELECT count(*) AS n FROM ledger WHERE workspace_id = $1', [workspace_id]);
  expect(row).toEqual({ n: 0 });
  expect((await api.request(`/v1/stores/${DOMAIN}`, { token })).status).toBe(200);
});

test('a request beyond the slots of its key is 503 with Retry-After, and is not billed', async () => {
  const { token, workspace_id } = await api.addKey({ plan: 'free' });
  const waiting = await api.database.owner.transaction(async (transaction) => {
    await transaction.execute('LOCK TABLE usage_counters IN EXCLUSIVE MODE');
    const held = [1, 2].map(() => api.request(`/v1/stores/${DOMAIN}`, { token }));
    const leases =
      'SELECT count(*) AS n FROM request_leases JOIN api_keys k ON k.id = key_id WHERE workspace_id = $1 AND request_leases.expires_at > now()';
    const count = async () => (await transaction.query<{ n: number }>(leases, [workspace_id]))[0]?.n;
    await waitUntil(async () => (await count()) === 2, { what: 'two requests in flight' });
    const { status, json, headers } = await api.request('/v1/account', { token });
    expect([status, codeOf(json), headers.get('retry-after'), headers.get('x-ratelimit-limit')]).toEqual([
      503,
      'concurrency_limited',
      '1',
      '30',
    ]);
    return held;
  });
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
});
