import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import { NO_SCOPE } from '@vitrine/traces/exchange-scope';
import { rejectionBody } from '@vitrine/http-api/rejection';
import { createHttpServer } from '@vitrine/http-api/server/http-server';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UpstreamPool } from './upstream/upstream-pool.ts';
import { authenticateBy } from '../auth/authenticate.ts';
import { KeyRing } from '../auth/keys/key-ring.ts';
import { RateLimiter } from '../auth/rate-limiter.ts';
import { BodyBudget } from '../recording/capture/body-budget.ts';
import { TraceQueue } from '../recording/capture/trace-queue.ts';
import type { Gate } from '../limits/usage-gate.ts';
import { keyRow, testHashes } from '../testing/key-rows.ts';
import { rawExchange } from '../testing/raw-exchange.ts';
import { Deadlines } from './exchange/deadlines.ts';
import { headerReaders } from './exchange/forwarded-headers.ts';
import { createProxy } from './proxy.ts';

const REJECTION = {
  status: 429,
  error: 'too many',
  details: { code: 'KEY_RATE_LIMIT_EXCEEDED', retry_after_seconds: 3 },
  headers: ['Retry-After', '3'],
  reason: 'KEY_RATE_LIMIT_EXCEEDED',
};

let opened: AsyncDisposableStack;
let openai: MockProvider;
let url: string;
let gate: Gate;
let ended: CapturedExchange[];
let denied: unknown[];
let anonymousRejections: RateLimiter;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  openai = opened.use(await startMockOpenai());
  const pool = opened.use(new UpstreamPool({ origin: openai.url, connect_timeout_ms: 1_000 }));
  const deadlines = opened.use(new Deadlines(() => performance.now(), 250));
  const budget = new BodyBudget(1_000_000);
  ended = [];
  denied = [];
  gate = () => undefined;
  anonymousRejections = new RateLimiter(10, () => 0);
  const ring = new KeyRing(testHashes, [keyRow('k', 'token'), keyRow('viewer', 'looks', { role: 'viewer' })]);
  const sink = { write: () => Promise.reject(new Error('nothing is written here')) };
  const proxy = createProxy(
    [{ provider: 'openai', prefix: '/openai', upstreamPath: '', pool }],
    {
      clock: Date.now,
      times: { firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
      deadlines,
      budget,
      headers: headerReaders('X-Key'),
      guard: undefined,
      costCheck: undefined,
      heldBodies: budget,
      storedBodyMaxBytes: 0,
      shutdown: new AbortController().signal,
      onFailure: () => {},
      onEnd: (exchange) => ended.push(exchange),
    },
    new TraceQueue({
      capacity: 10,
      batch: 1,
      sink,
      budget,
      clock: Date.now,
      steadyClock: () => performance.now(),
      onDrop: () => {},
    }),
    {
      authenticate: authenticateBy(ring, { header: 'X-Key', isFresh: () => true, isComplete: () => true, now: Date.now }),
      hasMisplacedKey: () => false,
      gate: (caller) => gate(caller),
      trail: { denied: (...details) => denied.push(details) },
      anonymousRejections,
    },
  );
  const created = createHttpServer(
    { maxConnections: 100, correlationHeader: 'X-Correlation-ID' },
    (request, response) => void (proxy(request, response, undefined, created.connections) || response.end()),
  );
  const { server } = created;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => opened.disposeAsync());

const body = Buffer.from(JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] }));
const send = (headers: Record<string, string> = { 'x-key': 'token' }, path = '/openai/v1/chat/completions') =>
  rawExchange(url + path, { body, headers: { authorization: 'Bearer sk-test-0123456789', ...headers } });
const only = () => waitUntil(() => ended.length > 0 && ended[0], { what: 'the exchange' });

describe('the caller of an exchange', () => {
  const ofKey = { org_id: 'acme', workspace_id: 'search', gateway_key_id: 'k', role: 'developer' };

  test('of a forwarded exchange is the key', async () => {
    expect((await send()).status).toBe(200);
    expect((await only()).scope).toEqual(ofKey);
  });

  test.each([
    [
      'without a permission',
      { 'x-key': 'looks' },
      '/openai/v1/models',
      403,
      { ...ofKey, gateway_key_id: 'viewer', role: 'viewer' },
    ],
    ['to a bad path', { 'x-key': 'token' }, '/openai//v1', 400, ofKey],
    ['to a WebSocket', { 'x-key': 'token', upgrade: 'websocket', connection: 'upgrade' }, '/openai/v1', 426, ofKey],
    ['that would take one', { 'x-key': 'token', upgrade: 'h2c, WebSocket', connection: 'upgrade' }, '/openai/v1', 426, ofKey],
    ['without a key', {}, '/openai/v1/models', 401, NO_SCOPE],
    ['with a wrong key, to a bad path', { 'x-key': 'wrong' }, '/openai//v1', 400, NO_SCOPE],
  ])('of a rejected exchange %s has the scope of its key', async (_, headers, path, status, scope) => {
    expect((await send(headers, path)).status).toBe(status);
    const exchange = await only();
    expect([exchange.outcome, exchange.sentStatus, exchange.scope]).toEqual(['rejected', status, scope]);
    expect(exchange.requestHeaders).not.toMatch(/token|looks|wrong/);
    expect(openai.exchanges).toBe(0);
  });

  test('ten anonymous rejections a second are traced, and the others are counted', async () => {
    for (let i = 0; i < 13; i += 1) await send({});
    await send();
    await waitUntil(() => ended.some(({ outcome }) => outcome === 'completed'), { what: 'the exchange of the key' });
    expect([ended.length, anonymousRejections.rejected, denied.length]).toEqual([11, 3, 13]);
  });
});

describe('the gate', () => {
  test('is called with the caller, once for every request that would be forwarded, and for no other', async () => {
    const calls: string[] = [];
    gate = ({ key_id }) => {
      calls.push(key_id);
      return undefined;
    };
    await send();
    await send({ 'x-key': 'looks' });
    await send({});
    expect([calls, openai.exchanges]).toEqual([['k'], 1]);
  });

  test.each([
    ['at once', () => REJECTION],
    ['after a while', async () => REJECTION],
  ])('may refuse %s, with its own response; that is traced and audited', async (_, response) => {
    gate = response;
    const { status, head, rawHeaders } = await send();
    expect([status, JSON.parse(head.toString())]).toEqual([429, rejectionBody(REJECTION)]);
    expect(rawHeaders[rawHeaders.indexOf('Retry-After') + 1]).toBe('3');
    expect(await only()).toMatchObject({ outcome: 'rejected', sentStatus: 429, request: { bytes: 0 }, response: { bytes: 0 } });
    expect(denied).toEqual([
      [
        expect.objectContaining({ method: 'POST', path: '/openai/v1/chat/completions' }),
        expect.objectContaining({ identity: expect.objectContaining({ key_id: 'k' }) }),
        'KEY_RATE_LIMIT_EXCEEDED',
      ],
    ]);
    expect([openai.exchanges, ended.length]).toEqual([0, 1]);
  });

  test('may delay a request and then forward it complete', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let isCalled = false;
    gate = () => {
      isCalled = true;
      return promise;
    };
    const response = send();
    await waitUntil(() => isCalled, { what: 'the gate' });
    expect(openai.exchanges).toBe(0);
    resolve(undefined);
    expect((await response).status).toBe(200);
    expect(openai.received[0]?.body.equals(body)).toBe(true);
  });

  test('a client that leaves while it waits leaves a trace, and nothing is sent', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let isCalled = false;
    gate = () => {
      isCalled = true;
      return promise;
    };
    const request = httpRequest(`${url}/openai/v1/models`, { headers: { 'x-key': 'token' } });
    request.on('error', () => {});
    request.end();
    await waitUntil(() => isCalled, { what: 'the gate' });
    request.destroy();
    expect(await only()).toMatchObject({ outcome: 'client_closed', sentStatus: 0 });
    resolve(undefined);
    expect((await send({ 'x-key': 'looks' })).status).toBe(403);
    expect(openai.exchanges).toBe(0);
  });
});
