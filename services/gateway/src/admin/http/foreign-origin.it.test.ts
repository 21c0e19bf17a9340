import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

// Spec: G9.8: without authentication a foreign Origin may read but not change anything.

const opened = new AsyncDisposableStack();
let gateway: TestGateway;
let guarded: TestGateway;
const OWNER = 'owner-token-0123456789-0123456789';
beforeAll(async () => {
  const { path } = opened.use(await temporaryFolder('origin'));
  gateway = opened.use(await startTestGateway({ SVC_STORAGE_PATH: join(path, 'open.db') }));
  const keys = `auth: {enabled: true, keys: [{id: owner, token: ${OWNER}, role: owner}]}`;
  guarded = opened.use(await startTestGateway({ SVC_STORAGE_PATH: join(path, 'guarded.db') }, keys));
});
afterAll(() => opened.disposeAsync());

const send = async (url: string, method: string, path: string, headers: Readonly<Record<string, string>>) => {
  const body = method === 'POST' ? { body: '{"name":"x"}' } : {};
  const response = await fetch(`${url}${path}`, { method, headers: { 'content-type': 'application/json', ...headers }, ...body });
  return [response.status, await response.json()];
};
const KEYS = '/api/gateway-keys';
const REFUSED = [403, { error: 'origin not allowed' }];

test.each([
  ['another host', 'https://evil.example'],
  ['another port of this host', 'http://127.0.0.1:1'],
  ['no origin that can be named', 'null'],
  ['something else', 'nonsense'],
])('a page of %s cannot create, rotate or revoke a key, but may read', async (_, origin) => {
  expect(await send(gateway.url, 'POST', KEYS, { origin })).toEqual(REFUSED);
  expect(await send(gateway.url, 'POST', `${KEYS}/gk_0123456789abcdef/rotate`, { origin })).toEqual(REFUSED);
  expect(await send(gateway.url, 'DELETE', `${KEYS}/gk_0123456789abcdef`, { origin })).toEqual(REFUSED);
  expect(await send(gateway.url, 'GET', KEYS, { origin })).toEqual([200, { items: [] }]);
});

test('the own origin and programs may change keys, and with authentication the key decides', async () => {
  for (const headers of [{ origin: gateway.url }, {}]) expect((await send(gateway.url, 'POST', KEYS, headers))[0]).toBe(201);
  const headers = { origin: 'https://evil.example', 'x-svc-gateway-key': OWNER };
  expect((await send(guarded.url, 'POST', KEYS, headers))[0]).toBe(201);
});
