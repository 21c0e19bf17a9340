import { describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const TOKEN = 'sgk_0123456789abcdef01234567';
const KEYS = `auth: { enabled: true, keys: [{ id: k1, token: ${TOKEN}, role: developer }] }`;
const PATH = '/openai/v1/chat/completions';
const PAGE = 'https://app.example.com';
/** The preflight that a browser sends before the official SDK's request with a gateway key. */
const PREFLIGHT = {
  origin: PAGE,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,x-stainless-lang,x-svc-gateway-key,x-svc-thread-id',
};
const options = (gateway: TestGateway, headers: Readonly<Record<string, string>>, path = PATH) =>
  fetch(gateway.url + path, { method: 'OPTIONS', headers });
const chat = (gateway: TestGateway, headers: Readonly<Record<string, string>>, path = PATH) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json', ...headers },
    body: '{"model":"gpt-4o-mini","messages":[]}',
  });
const corsOf = ({ headers }: Response) => [
  headers.get('access-control-allow-origin'),
  headers.get('access-control-expose-headers'),
];

describe.each([
  ['on', KEYS],
  ['off', ''],
])("a browser's preflight on the proxy, with auth %s", (_, text) => {
  test('is answered by the gateway without a key, and allows the requested headers', async () => {
    await using gateway = await startTestGateway({}, text);
    for (const path of [PATH, '/anthropic/v1/messages', '/openai?x=1']) {
      const response = await options(gateway, PREFLIGHT, path);
      expect([response.status, await response.text()]).toEqual([204, '']);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': expect.stringMatching(/\bPOST\b.*\bDELETE\b/),
        'access-control-allow-headers': PREFLIGHT['access-control-request-headers'],
        'access-control-max-age': '600',
        'x-svc-correlation-id': expect.stringMatching(/^corr-/),
      });
      expect(response.headers.has('content-length')).toBe(false);
    }
    expect(gateway.openai.exchanges + gateway.anthropic.exchanges).toBe(0);
  });

  test('leaves no trace, but the request after it does', async () => {
    await using gateway = await startTestGateway({}, text);
    await options(gateway, PREFLIGHT);
    await (await chat(gateway, { origin: PAGE, 'x-svc-gateway-key': TOKEN })).text();
    // The key may read analytics. With auth off it is not checked.
    const items = async () => {
      const response = await fetch(`${gateway.url}/api/traces`, { headers: { 'x-svc-gateway-key': TOKEN } });
      return ((await response.json()) as { items: { request_method: string }[] }).items;
    };
    const found = await waitUntil(async () => (await items()).length > 0 && items(), { what: 'a trace' });
    expect(found.map(({ request_method: method }) => method)).toEqual(['POST']);
  });
});

describe('requests that are not preflights', () => {
  test.each([
    ['no Origin', { 'access-control-request-method': 'POST' }],
    ['no requested method', { origin: PAGE }],
    ['neither', {}],
  ])('OPTIONS with %s goes to the provider and needs a key when keys are required', async (_, headers) => {
    await using gateway = await startTestGateway();
    await (await options(gateway, headers)).text();
    expect(gateway.openai.exchanges).toBe(1);
    expect(await gateway.traces(1)).toMatchObject([{ request_method: 'OPTIONS' }]);
    await using locked = await startTestGateway({}, KEYS);
    expect((await options(locked, headers)).status).toBe(401);
  });

  test('a forbidden path is refused, and a path below no prefix is not handled by the proxy', async () => {
    await using gateway = await startTestGateway({}, KEYS);
    expect((await options(gateway, PREFLIGHT, '/openai//v1')).status).toBe(400);
    expect((await options(gateway, PREFLIGHT, '/elsewhere')).status).toBe(404);
    expect((await options(gateway, PREFLIGHT, '/api/traces')).status).toBe(204);
  });

  test('invalid header names are not repeated', async () => {
    await using gateway = await startTestGateway({}, KEYS);
    for (const names of ['a b', 'a,,b', '<script>', 'a;b']) {
      const response = await options(gateway, { ...PREFLIGHT, 'access-control-request-headers': names });
      expect([response.status, response.headers.get('access-control-allow-headers')]).toEqual([204, null]);
    }
  });
});

describe('the response to a cross-origin request', () => {
  test('may be read by the page: responses of providers and rejections of the gateway', async () => {
    await using gateway = await startTestGateway({ SVC_LIMITS_PER_KEY_REQUESTS_PER_MINUTE: '1' }, KEYS);
    const key = { 'x-svc-gateway-key': TOKEN };
    const responses = [
      await chat(gateway, { origin: PAGE, ...key }),
      await chat(gateway, { origin: PAGE, ...key }),
      await chat(gateway, { origin: PAGE }),
      await chat(gateway, { origin: PAGE, ...key }, '/openai//v1'),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 429, 401, 400]);
    expect(responses.map(corsOf)).toEqual(responses.map(() => ['*', '*']));
    await using unreachable = await startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: 'http://127.0.0.1:9' });
    const failed = await chat(unreachable, { origin: PAGE });
    expect([failed.status, ...corsOf(failed)]).toEqual([502, '*', '*']);
  });

  test('is unchanged without an Origin', async () => {
    await using gateway = await startTestGateway({}, KEYS);
    const responses = [await chat(gateway, { 'x-svc-gateway-key': TOKEN }), await chat(gateway, {})];
    expect(responses.map(({ status }) => status)).toEqual([200, 401]);
    expect(responses.map(corsOf)).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  test('keeps CORS headers of the provider', async () => {
    let seen: IncomingHttpHeaders = {};
    const provider = createServer((request, response) => {
      seen = request.headers;
      response.writeHead(200, { 'Access-Control-Allow-Origin': PAGE, Vary: 'Origin', 'X-A': '1' });
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const upstream = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    try {
      await using gateway = await startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: upstream });
      const response = await chat(gateway, { origin: PAGE });
      expect(corsOf(response)).toEqual([PAGE, null]);
      expect(seen.origin).toBe(PAGE);
    } finally {
      provider.close();
      provider.closeAllConnections();
    }
  });
});
