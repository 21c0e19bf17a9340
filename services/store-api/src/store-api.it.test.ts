import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/rules/rule-index';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { getPromptly } from '@vitrine/testkit/get-promptly';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startTestStoreApi, type TestStoreApi } from './testing/start-test-store-api.ts';

let api: TestStoreApi;
beforeAll(async () => {
  api = await startTestStoreApi();
});
afterAll(async () => api[Symbol.asyncDispose]());

test('health, indexes and probes need no key', async () => {
  const health = { ok: true, service: 'store-intelligence', version: 'v1', build: null, registry_checksum: REGISTRY_CHECKSUM };
  expect((await api.request('/v1/health')).json).toEqual(health);
  expect((await api.request('/')).json).toMatchObject({ rest: { base_url: 'https://api.example.com/v1', version: 'v1' } });
  const { endpoints } = (await api.request('/v1')).json;
  expect(endpoints).toMatchObject({ getAccount: 'https://api.example.com/v1/account' });
  expect((await api.request('/livez')).status).toBe(200);
  await waitUntil(async () => (await api.request('/readyz')).status === 200, { what: 'readiness' });
});

test('a replica is not ready while its role may read the database but not write to it', async () => {
  const { owner } = api.database;
  await owner.execute('REVOKE UPDATE ON request_leases FROM vitrine_store_api');
  try {
    await using other = await startTestStoreApi({}, api.database);
    const statusOf = async () => (await other.request('/readyz')).status;
    await waitUntil(
      () => other.log.some((line) => line.includes('waiting for the database') && line.includes('request_leases')),
      {
        what: 'the wait',
      },
    );
    expect(await statusOf()).toBe(503);
    await owner.execute('GRANT UPDATE ON request_leases TO vitrine_store_api');
    await waitUntil(async () => (await statusOf()) === 200, { what: 'readiness', timeoutMs: 30_000 });
  } finally {
    await owner.execute('GRANT UPDATE ON request_leases TO vitrine_store_api');
  }
}, 60_000);

test('while the database never answers, probes and health respond at once, requests get an error, and all recover', async () => {
  await using proxy = await openTcpProxy(api.database.dsnOf('vitrine_store_api'));
  proxy.hang();
  await using other = await startTestStoreApi({ STORE_API_STORAGE_DSN: proxy.dsn.reveal() }, api.database);
  const statusOf = async (path: string) => (await getPromptly(other.url + path))[0];
  const key = await api.addKey({ plan: 'growth', scopes: [] });
  const account = async () => (await other.request('/v1/account', { token: key.token })).status;
  const becomes = (status: number) =>
    waitUntil(async () => (await account()) === status, { what: `an account with ${status}`, timeoutMs: 60_000 });
  expect(await Promise.all(['/livez', '/v1/health', '/readyz'].map(statusOf))).toEqual([200, 200, 503]);
  await proxy.open();
  await waitUntil(async () => (await statusOf('/readyz')) === 200, { what: 'readiness', timeoutMs: 60_000 });
  await becomes(200);
  proxy.hang();
  expect(await account()).toBe(503);
  expect(await Promise.all(['/livez', '/v1/health', '/readyz'].map(statusOf))).toEqual([200, 200, 200]);
  await waitUntil(() => other.log.some((line) => line.includes('database lost')), { what: 'the log', timeoutMs: 60_000 });
  await proxy.open();
  await becomes(200);
}, 240_000);

test('account shows workspace, key, plan and period to a key without any scope', async () => {
  const key = await api.addKey({ plan: 'growth', scopes: [] });
  const { status, json, headers } = await api.request('/v1/account', { token: key.token });
  expect([status, json]).toEqual([
    200,
    {
      workspace: { id: key.workspace_id, name: expect.any(String) },
      key: {
        id: key.key_id,
        label: expect.any(String),
        prefix: 'svc_live_kkkk',
        environment: 'live',
        scopes: [],
        expires_at: null,
      },
      plan: {
        slug: 'growth',
        limits: {
          rpm: 300,
          concurrency: 10,
          enrich_batch_max: 100,
          freshness_days: 30,
          history_days: 365,
          live_refreshes_per_period: 1_000,
        },
      },
      period: {
        starts_at: expect.stringMatching(/-05T00:00:00.000Z$/),
        ends_at: expect.stringMatching(/-05T00:00:00.000Z$/),
        included: { lookup_cached: 10_000, lookup_live: 1_000, history_query: 0, refresh_requested: 0 },
        used: { lookup_cached: 0, lookup_live: 0, history_query: 0, refresh_requested: 0 },
      },
    },
  ]);
  expect(['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`))).toEqual(['300', '299']);
  expect(headers.get('x-usage-remaining')).toBe('10000');
});

test.each([
  ['no key', undefined, 'unauthorized', 401],
  ['a malformed key', 'svc_live_x', 'unauthorized', 401],
  ['a test key', `svc_test_${'k'.repeat(43)}`, 'unauthorized', 401],
  ['a key that nobody has', `svc_live_${'z'.repeat(43)}`, 'unauthorized', 401],
])('%s is refused before anything else under /v1', async (_, token, code, status) => {
  for (const [method, path] of [
    ['GET', '/v1/account'],
    ['GET', '/v1/nothing'],
    ['DELETE', '/v1/account'],
    ['POST', '/v1/stores/enrich'],
  ] as const) {
    const response = await api.request(path, { method, ...(token === undefined ? {} : { token }) });
    const { error } = response.json as { error: { request_id: string } };
    expect([path, response.status, error]).toEqual([
      path,
      status,
      { code, message: expect.any(String), request_id: error.request_id },
    ]);
    expect(response.headers.get('x-request-id')).toBe(error.request_id);
  }
});
