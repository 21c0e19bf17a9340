import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { reconcileUsage } from '@vitrine/stores/metering/usage-reports';
import { errorResponse } from '@vitrine/stores/resources/error-response';
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { startTestStoreApi, type TestApiKey, type TestStoreApi } from './testing/start-test-store-api.ts';

let api: TestStoreApi;
let key: TestApiKey;
beforeAll(async () => {
  api = await startTestStoreApi();
  await api.addDemoStore();
  key = await api.addKey({ plan: 'partner', scopes: ['read:stores', 'write:scans'] });
});
afterAll(async () => {
  expect(await reconcileUsage(api.database.owner)).toEqual([]);
  const [row] = await api.database.owner.query('SELECT count(*) AS n FROM ledger');
  expect(row).toEqual({ n: 0 });
  expect(api.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  await api[Symbol.asyncDispose]();
});

/** Writes bytes to a new connection, and resolves with everything received until the server closes it. */
async function talk(bytes: string | Uint8Array): Promise<string> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  socket.write(bytes);
  await closed;
  return received;
}

/** The status of a raw response, whose body must be the envelope with the id of its header. */
function statusOfEnvelope(received: string): number {
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const { error } = errorResponse.parse(JSON.parse(body));
  expect(/^x-request-id: (.*)$/im.exec(head)?.[1]).toBe(error.request_id);
  expect(error.request_id).toMatch(/^req_[0-9a-z]{26}$/);
  return Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]);
}

test.each([
  ['no HTTP', 'EHLO there\r\n\r\n', 400],
  ['a TLS hello', '\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\r\n\r\n', 400],
  ['headers of 100 KB', `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
  ['two Content-Lengths', 'POST /v1/stores/enrich HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
  ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', 400],
  ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 405],
  ['an expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: the-best\r\nConnection: close\r\n\r\n', 417],
  ['a path outside of everything', 'GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
  ['the URL of another protocol', 'GET ftp://a/docs HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
  ['a URL that cannot be parsed', 'GET http://[::1/nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
  ['a malformed escape without a key', 'GET /v1/stores/% HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 401],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
])('%s gets the envelope', async (_, bytes, status) => {
  expect(statusOfEnvelope(await talk(bytes))).toBe(status);
});

describe('a body', () => {
  const enrich = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    api.request('/v1/stores/enrich', { method: 'POST', token: key.token, body, headers });
  const padded = (bytes: number) => `{"domains":["unknown.com"]${' '.repeat(bytes - 27)}}`;

  test.each<[string, string | Uint8Array<ArrayBuffer>, Record<string, string>, string]>([
    ['that is no JSON', '{', {}, 'JSON'],
    ['that is empty', '', {}, 'JSON'],
    ['that is an array', '[]', {}, 'The body'],
    ['that is null', 'null', {}, 'The body'],
    ['nested 100,000 times', '['.repeat(100_000), {}, 'JSON'],
    ['with a prototype instead of fields', '{"__proto__":{"domains":["a.com"]}}', {}, 'domains'],
    ['with a constructor instead of fields', '{"constructor":{"prototype":{"domains":["a.com"]}}}', {}, 'domains'],
    ['in another encoding', Buffer.from('{"domains":["m\xfcnchen.de"]}', 'latin1'), {}, 'UTF-8'],
    ['of 256 KB and a byte', padded(262_145), {}, '262144'],
    ['of 5 MB', padded(5_000_000), {}, '262144'],
    ['that is compressed', gzipSync(padded(10_000_000)), { 'Content-Encoding': 'gzip' }, 'Content-Encoding'],
    ['that is a form', 'domains=a.com', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'Content-Type'],
    ['in UTF-16', '{"domains":["a.com"]}', { 'Content-Type': 'application/json; charset=utf-16' }, 'Content-Type'],
  ])('%s is 400, and the message names the rule', async (_, body, headers, rule) => {
    const { status, json } = await enrich(body, headers);
    expect([status, json['error']]).toMatchObject([400, { code: 'invalid_request', message: expect.stringContaining(rule) }]);
  });

  test('of 256 KB is read, also with another JSON media type', async () => {
    expect((await enrich(padded(262_144))).status).toBe(200);
    expect((await enrich('{"domains":["unknown.com"]}', { 'Content-Type': 'application/json; charset=UTF-8' })).status).toBe(200);
  });

  test.each(['Content-Length: 100\r\n\r\n{"domains"', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"dom'])(
    'that stalls is 408, and its connection is closed: %j',
    async (begun) => {
      const received = await talk(`POST /v1/stores/enrich HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key.token}\r\n${begun}`);
      expect([statusOfEnvelope(received), received]).toEqual([408, expect.stringContaining('Connection: close')]);
      // Its slot is free again.
      expect((await enrich('{"domains":["unknown.com"]}')).status).toBe(200);
    },
  );

  test('that is too large and sent in chunks is 400', async () => {
    const chunk = `${(100_000).toString(16)}\r\n${' '.repeat(100_000)}\r\n`;
    const head = `POST /v1/stores/enrich HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key.token}\r\nConnection: close\r\n`;
    const received = await talk(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}0\r\n\r\n`);
    expect(statusOfEnvelope(received)).toBe(400);
  });
});

describe('headers', () => {
  const get = (lines: string) => talk(`GET /v1/account HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`);
  test.each([
    ['two Authorizations', () => `Authorization: Bearer ${key.token}\r\nAuthorization: Bearer ${key.token}\r\n`],
    ['Basic', () => 'Authorization: Basic YTpi\r\n'],
    ['a key with another one behind it', () => `Authorization: Bearer ${key.token}, Bearer ${key.token}\r\n`],
    ['a key of 8 KB', () => `Authorization: Bearer svc_live_${'k'.repeat(8_000)}\r\n`],
  ])('with %s are 401', async (_, lines) => {
    expect(statusOfEnvelope(await get(lines()))).toBe(401);
  });

  test('with two Idempotency-Keys are 400', async () => {
    const lines = `Authorization: Bearer ${key.token}\r\nIdempotency-Key: one-two-three\r\nIdempotency-Key: one-two-three\r\n`;
    const received = await talk(`GET /v1/stores/unknown.com HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`);
    expect(statusOfEnvelope(received)).toBe(400);
  });

  test.each([
    ['valid-id_01', true],
    ['short', false],
    ['x'.repeat(65), false],
    ['with space', false],
  ])('an X-Request-Id %p is echoed: %p', async (id, isEchoed) => {
    for (const path of ['/v1/account', '/v1/nothing', '/', '/nothing', '/docs']) {
      const { headers } = await api.request(path, { token: key.token, headers: { 'X-Request-Id': id } });
      if (isEchoed) expect(headers.get('x-request-id')).toBe(id);
      else expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
    }
  });
});

describe('routes', () => {
  test.each([
    ['POST', '/v1/account', 405, 'GET, HEAD'],
    ['GET', '/v1/stores/enrich', 405, 'POST'],
    ['HEAD', '/v1/stores/example.com', 405, 'GET'],
    ['OPTIONS', '/v1/technologies', 405, 'GET, HEAD'],
    ['OPTIONS', '/v1/stores/%E4', 405, 'GET'],
    ['HEAD', '/v1/stores/%', 405, 'GET'],
    ['PROPFIND', '/v1/stores/enrich', 405, 'POST'],
    ['DELETE', '/v1/health', 405, 'GET, HEAD'],
    ['POST', '/', 405, 'GET, HEAD'],
    ['GET', '/v1/', 404, null],
    ['OPTIONS', '/v1/nothing', 404, null],
    ['GET', '/v1/Account', 404, null],
    ['GET', '/v1/%61ccount', 404, null],
    ['GET', '/v1/account/', 404, null],
    ['GET', '/v1/stores/https://example.com/', 404, null],
    ['GET', '/v1/signals', 501, null],
    ['POST', '/v1/scans', 501, null],
    ['PATCH', '/v1/webhooks/x', 501, null],
  ])('%s %s is %d', async (method, path, status, allow) => {
    const response = await api.request(path, { method, token: key.token });
    expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
    const isPublic = path === '/';
    expect(response.headers.get('x-ratelimit-limit')).toBe(isPublic ? null : '600');
  });

  test('of a key beyond its requests a minute are 429 with Retry-After and rate headers; other keys are not affected', async () => {
    const { token } = await api.addKey({ plan: 'free', scopes: [] });
    const statuses: number[] = [];
    for (let i = 0; i < 31; i += 1) statuses.push((await api.request('/v1/account', { token })).status);
    const { status, headers } = await api.request('/v1/nothing', { token });
    // On a machine that paused, a minute may have ended in between.
    if (statuses.at(-1) === 200) return;
    expect([statuses.filter((one) => one === 200).length, status, headers.get('x-ratelimit-remaining')]).toEqual([30, 429, '0']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await api.request('/v1/account', key)).status).toBe(200);
  });

  test('a missing scope is 403 with rate headers', async () => {
    const { token } = await api.addKey({ scopes: ['read:signals'] });
    for (const path of ['/v1/technologies', '/v1/technologies/klaviyo', '/v1/stores/example.com']) {
      const { status, headers, json } = await api.request(path, { token });
      expect([status, json['error'], headers.get('x-ratelimit-limit')]).toMatchObject([403, { code: 'forbidden_scope' }, '120']);
    }
  });
});
