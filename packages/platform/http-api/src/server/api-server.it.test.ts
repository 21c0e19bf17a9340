import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@vitrine/telemetry/logger';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createApiApp } from '../api-app.ts';
import { MAX_PIPELINED } from '../connections/client-connections.ts';
import { operationOf } from '../route.ts';
import { serveApi } from './api-server.ts';
import { IDLE_GRACE_MS, MAX_IDLE_GRACE_MS } from './http-server.ts';

const CORRELATION_HEADER = 'X-Correlation-ID';

let log: Record<string, unknown>[];
let called: PromiseWithResolvers<void>;
let released: PromiseWithResolvers<object>;
let api: Awaited<ReturnType<typeof serveApi>>;
beforeEach(() => start());

async function start(idleGraceMs = IDLE_GRACE_MS) {
  log = [];
  called = Promise.withResolvers();
  released = Promise.withResolvers();
  const logger = createLogger('t', 'info', { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) });
  const slow = operationOf()({
    summary: 'Waits.',
    permission: 'public',
    status: 200,
    errors: [],
    handle: () => {
      called.resolve();
      return released.promise;
    },
  });
  const description = { title: 'T', version: '1', summary: 'S.', correlationHeader: CORRELATION_HEADER };
  const app = createApiApp([{ path: '/slow', GET: slow }], { logger, description, authorize: () => undefined });
  const at = { host: '127.0.0.1', port: 0, hostKey: 'host', portKey: 'port' };
  api = await serveApi(app, { ...at, maxConnections: 10, correlationHeader: CORRELATION_HEADER, idleGraceMs, logger });
}
afterEach(async () => {
  released.resolve({});
  await api[Symbol.asyncDispose]();
});

function open() {
  const { hostname, port } = new URL(api.url);
  return connect(Number(port), hostname);
}

/** Everything that the server sends on a connection until it closes it. */
function talk(sent: string): Promise<string> {
  const socket = open();
  socket.write(sent);
  return text(socket);
}

test.each([
  ['without a Host', 'GET /slow HTTP/1.1\r\n\r\n', 400, 'the request must have one Host header'],
  ['with an unknown expectation', 'GET /slow HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n', 417, 'the expectation cannot be met'],
  ['that is no HTTP', 'nonsense\r\n\r\n', 400, 'the request could not be parsed'],
])('a request %s is rejected in JSON, and its connection closed', async (_, sent, status, error) => {
  const response = await talk(sent);
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(response).toContain(`\r\n${CORRELATION_HEADER}: corr-`);
  expect(JSON.parse(response.slice(response.indexOf('{')))).toEqual({ error });
});

test('unparsable requests are logged without credentials', async () => {
  await talk('GET /a?key=sk-proj-canary0123456789 HTTP/1.1\r\nbad header\r\n\r\n');
  expect(log).toMatchObject([{ msg: 'requests could not be parsed', reason: 'malformed_request', method: 'GET', count: 1 }]);
  expect(JSON.stringify(log)).not.toContain('canary');
});

test('excess waiting requests on one connection are rejected', async () => {
  const socket = open();
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(MAX_PIPELINED + 2));
  await called.promise;
  released.resolve({});
  let responses = '';
  for await (const chunk of socket) {
    responses += String(chunk);
    if (responses.split('HTTP/1.1 ').length > MAX_PIPELINED + 2) break;
  }
  expect(responses.split('HTTP/1.1 200').length - 1).toBe(MAX_PIPELINED + 1);
  expect(responses).toContain('{"error":"too many pipelined requests on this connection"}');
});

test('disposal finishes the requests in flight and accepts no more', async () => {
  const response = fetch(`${api.url}/slow`);
  await called.promise;
  const disposed = api[Symbol.asyncDispose]();
  await expect(fetch(`${api.url}/slow`)).rejects.toThrow('fetch failed');
  released.resolve({ done: true });
  expect(await (await response).json()).toEqual({ done: true });
  await disposed;
});

test('disposal ends a connection after the response in progress', async () => {
  const received = talk('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await called.promise;
  const disposed = api[Symbol.asyncDispose]();
  released.resolve({});
  expect(await received).toMatch(/^HTTP\/1.1 200 [^]*\r\nConnection: close\r\n/);
  await disposed;
});

test('disposal serves a request that arrives on an idle connection as it begins', async () => {
  const socket = open();
  released.resolve({});
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  const disposed = api[Symbol.asyncDispose]();
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 200 [^]*\r\nConnection: close\r\n/);
  await disposed;
});

test('disposal keeps an idle connection for the configured time, and the next response ends it', async () => {
  await api[Symbol.asyncDispose]();
  await start(MAX_IDLE_GRACE_MS);
  const socket = open();
  released.resolve({});
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  const disposed = api[Symbol.asyncDispose]();
  await expect(fetch(`${api.url}/slow`)).rejects.toThrow('fetch failed');
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 200 [^]*\r\nConnection: close\r\n/);
  await disposed;
});
