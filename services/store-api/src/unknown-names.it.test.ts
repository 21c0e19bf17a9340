import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as served from './contract/served-operations.ts';
import { startTestStoreApi, type TestStoreApi } from './testing/start-test-store-api.ts';

// An unknown name may be a misspelt known one, so the request is refused.

const SERVICE_TOKEN = 's'.repeat(32);

let api: TestStoreApi;
let token: string;
beforeAll(async () => {
  api = await startTestStoreApi({ STORE_API_GRAPHQL_SERVICE_TOKEN: SERVICE_TOKEN });
  ({ token } = await api.addKey({ plan: 'growth', scopes: ['read:stores', 'write:scans'] }));
});
afterAll(async () => api[Symbol.asyncDispose]());

const OPERATIONS = Object.values(served);

test.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
  '%s names a query parameter that it does not have',
  async (_, { method, path, scope }) => {
    const target = path.replace('{domain}', 'unknown.com').replace('{slug}', 'shopify');
    const options = {
      method,
      ...(scope === 'none' ? {} : { token }),
      ...(method === 'POST' ? { body: { domains: ['a.com'] } } : {}),
    };
    const { status, json } = await api.request(`${target}?limti=5&%E2%9C%93`, options);
    const message: unknown = expect.stringMatching(/^unknown query parameters "limti", "✓"; /);
    expect([status, json['error']]).toMatchObject([400, { code: 'invalid_request', message }]);
  },
);

test('a misspelt refresh is refused by name, and queues and bills nothing', async () => {
  const body = { domains: ['new.com'], refesh: true };
  const { status, json } = await api.request('/v1/stores/enrich', { method: 'POST', token, body });
  const message = 'refesh: unknown key; known keys: domains, refresh';
  expect([status, json['error']]).toMatchObject([400, { code: 'invalid_request', message }]);
  const [row] = await api.database.owner.query('SELECT (SELECT count(*) FROM scan_jobs) + (SELECT count(*) FROM ledger) AS n');
  expect(row).toEqual({ n: 0 });
});

test('names that are long or many do not make the error long', async () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${'x'.repeat(400)}${n}`, n]));
  const response = await api.request('/v1/stores/enrich', { method: 'POST', token, body: { domains: ['new.com'], ...many } });
  expect(response.status).toBe(400);
  expect(response.text.length).toBeLessThan(1_000);
});

test.each([
  ['/graphql', { query: '{ __typename }', varaibles: {} }, 'varaibles: unknown key'],
  ['/graphql?query=x', { query: '{ __typename }' }, 'unknown query parameter "query"'],
])('POST %s with %j is refused by name', async (path, body, message) => {
  const response = await api.request(path, { method: 'POST', token: SERVICE_TOKEN, body });
  expect([response.status, response.json['error']]).toMatchObject([400, { message: expect.stringContaining(message) }]);
});
