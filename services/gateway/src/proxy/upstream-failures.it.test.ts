import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { rawExchange } from '../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
// Far enough apart that a busy machine does not confuse them.
const TIMES = {
  SVC_PROXY_CONNECT_TIMEOUT_MS: '200',
  SVC_PROXY_FIRST_BYTE_TIMEOUT_MS: '1500',
  SVC_PROXY_IDLE_TIMEOUT_MS: '1500',
};
const BODY = Buffer.from(JSON.stringify({ model: 'gpt-4o-mini', messages: [] }));

let opened: AsyncDisposableStack;
/** What the provider does with a connection, and with the first bytes of each request. */
let onConnection: (socket: Socket) => void;
let onRequest: (socket: Socket) => void;
let port: number;
beforeAll(async () => {
  opened = new AsyncDisposableStack();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('data', () => onRequest(socket));
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => opened.disposeAsync());
beforeEach(() => {
  onConnection = () => {};
  onRequest = () => {};
});

interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly provider: string;
  readonly upstream_error: string;
  readonly upstream_error_detail: string;
  readonly correlation_id: string;
  readonly next_step: string;
  readonly err?: { readonly message: string };
}
const failuresIn = (gateway: TestGateway) =>
  gateway.log.map((line) => JSON.parse(line) as LogLine).filter(({ msg }) => msg === 'upstream request failed');

interface Case {
  readonly route: 'openai' | 'anthropic';
  readonly upstreamError: string;
  readonly status: 502 | 504;
  /** Undefined: the client's connection is broken. */
  readonly text: string | undefined;
  readonly detail: RegExp;
}

/** The client, the trace and the log report the same for one exchange. */
async function expectFailure(gateway: TestGateway, { route, upstreamError, status, text, detail }: Case): Promise<void> {
  const count = ((await gateway.get('/api/health')) as { trace_count: number }).trace_count + 1;
  const url = `${gateway.url}/${route}/v1/chat/completions`;
  const pending = rawExchange(url, { body: BODY, headers: { 'content-type': 'application/json' } });
  if (text === undefined) await expect(pending).rejects.toThrow();
  else {
    const response = await pending;
    const body = JSON.parse(response.head.toString()) as unknown;
    expect([response.status, body]).toEqual([status, { error: `${text} (${upstreamError})`, upstream_error: upstreamError }]);
  }
  const trace = await gateway.newest(count);
  const outcome = status === 504 ? 'timeout' : 'upstream_error';
  expect(trace).toMatchObject({ outcome, response_status: status, metadata: { upstream_error: upstreamError } });
  expect(trace.metadata['upstream_error_detail']).toMatch(detail);
  // A line of the same class may have been logged within the last second.
  const correlationId = trace.metadata['correlation_id'];
  const line = await waitUntil(() => failuresIn(gateway).find((one) => one.correlation_id === correlationId), {
    what: 'a log line',
  });
  expect(line).toMatchObject({
    level: 'warn',
    provider: route,
    status,
    upstream_error: upstreamError,
    upstream_error_detail: trace.metadata['upstream_error_detail'],
    next_step: expect.stringMatching(/\w/),
  });
}

describe('a provider that', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      ...TIMES,
      SVC_PROVIDERS_OPENAI_UPSTREAM: `http://127.0.0.1:${port}`,
      SVC_PROVIDERS_ANTHROPIC_UPSTREAM: `https://127.0.0.1:${port}`,
    });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  const RESET = 'the provider closed the connection before its response was complete';
  const SILENT = 'the provider did not respond in time';
  const MALFORMED = "the provider's response is not valid HTTP/1.1";
  const write = (text: string) => (socket: Socket) => void socket.write(text);
  test.each<[string, (socket: Socket) => void, string, string | undefined, RegExp]>([
    ['closes', (socket) => socket.end(), 'reset', RESET, /^connection closed before the response$/],
    ['resets', (socket) => socket.resetAndDestroy(), 'reset', RESET, /^read ECONNRESET before the response$/],
    ['closes within a head', (socket) => socket.end(OK), 'reset', RESET, /within the response head$/],
    ['closes within a body', (socket) => socket.end(`${OK}Content-Length: 9\r\n\r\n{`), 'reset', undefined, /response body$/],
    ['says nothing', () => {}, 'first_byte_timeout', SILENT, /^no response within 1500 ms, stopped before the response$/],
    ['stops within a head', write(OK), 'first_byte_timeout', SILENT, /stopped within the response head$/],
    ['stops within a body', write(`${OK}Content-Length: 9\r\n\r\n{`), 'idle_timeout', undefined, /^nothing for 1500 ms, within/],
    ['speaks no HTTP', write('hello\r\n\r\n'), 'malformed_response', MALFORMED, /^invalid status line$/],
    ['ends no chunk', write(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}x`), 'idle_timeout', undefined, /response body$/],
    [
      'sends no chunk',
      write(`${OK}Transfer-Encoding: chunked\r\n\r\n!\r\n`),
      'malformed_response',
      undefined,
      /^invalid chunk size$/,
    ],
  ])('%s', async (_, act, upstreamError, text, detail) => {
    onRequest = act;
    const status = upstreamError.endsWith('timeout') ? 504 : 502;
    await expectFailure(gateway, { route: 'openai', upstreamError, status, text, detail });
  });

  const TLS = 'no secure connection to the provider could be made';
  test.each<[string, (socket: Socket) => void, string, string, RegExp]>([
    ['speaks plain HTTP behind https', write(`${OK}\r\n`), 'tls', TLS, /^EPROTO: wrong version number$/],
    ['resets behind https', (socket) => socket.resetAndDestroy(), 'tls', TLS, /ECONNRESET/],
    ['says nothing behind https', () => {}, 'connect_timeout', 'the provider could not be reached in time', /^no TLS handshake/],
  ])('%s', async (_, act, upstreamError, text, detail) => {
    onConnection = act;
    const status = upstreamError.endsWith('timeout') ? 504 : 502;
    await expectFailure(gateway, { route: 'anthropic', upstreamError, status, text, detail });
  });

  test('a system error is logged with its cause', async () => {
    onRequest = (socket) => socket.resetAndDestroy();
    await expectFailure(gateway, { route: 'openai', upstreamError: 'reset', status: 502, text: RESET, detail: /ECONNRESET/ });
    expect(failuresIn(gateway).at(-1)?.err?.message).toBe('read ECONNRESET');
  });
});

test.each<Case>([
  {
    route: 'openai',
    upstreamError: 'dns',
    status: 502,
    text: "the provider's name could not be resolved",
    detail: /^getaddrinfo E\w+ provider\.invalid$/,
  },
  {
    route: 'anthropic',
    upstreamError: 'connect_refused',
    status: 502,
    text: 'the provider could not be reached',
    detail: /^connect ECONNREFUSED 127\.0\.0\.1:1$/,
  },
])('an unreachable provider: $upstreamError', async (expected) => {
  await using gateway = await startTestGateway({
    ...TIMES,
    SVC_PROVIDERS_OPENAI_UPSTREAM: 'http://provider.invalid',
    SVC_PROVIDERS_ANTHROPIC_UPSTREAM: 'http://127.0.0.1:1',
  });
  await expectFailure(gateway, expected);
});

describe('failures that are not the fault of the provider', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ ...TIMES, SVC_PROVIDERS_OPENAI_UPSTREAM: `http://127.0.0.1:${port}` });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());
  const head = (lines: string) => `POST /openai/v1/files HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
  /** Sends `bytes`, runs `then`, and returns the result. */
  const talk = async (bytes: string, then: (socket: Socket, response: () => string) => unknown = () => {}) => {
    const count = ((await gateway.get('/api/health')) as { trace_count: number }).trace_count + 1;
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').setEncoding('latin1');
    let response = '';
    socket.on('data', (text: string) => (response += text)).on('error', () => {});
    socket.write(bytes);
    await then(socket, () => response);
    const trace = await gateway.newest(count);
    socket.destroy();
    return { trace, response };
  };

  test.each([
    ['in chunks', head('Transfer-Encoding: chunked\r\n') + '5\r\nhello\r\n'],
    ['whole', head('Content-Length: 10\r\n') + 'hello'],
  ])('a client that leaves within its request %s', async (_, bytes) => {
    // The request before this one was read together with it, so this one has begun.
    const { trace } = await talk(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${bytes}`, async (socket, response) => {
      await waitUntil(() => response().includes('"name"'), { what: 'the response before' });
      socket.resetAndDestroy();
    });
    expect(trace).toMatchObject({ outcome: 'client_closed', response_status: 499 });
    expect(trace.metadata).not.toHaveProperty('upstream_error');
  });

  test.each([
    ['in chunks', head('Transfer-Encoding: chunked\r\n') + '5\r\nhello\r\n'],
    ['whole', head('Content-Length: 10\r\n') + 'hello'],
  ])('a client that stalls within its request %s', async (_, bytes) => {
    const { trace, response } = await talk(bytes);
    expect(trace).toMatchObject({ outcome: 'timeout', response_status: 504 });
    expect(trace.metadata).not.toHaveProperty('upstream_error');
    expect(response).toMatch(/\r\n\r\n\{"error":"the request did not arrive in time"\}$/);
  });

  test('a client that does not read', async () => {
    const size = 30_000_000;
    onRequest = (socket) => {
      socket.write(`${OK}Content-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size));
    };
    const { trace } = await talk(head('Content-Length: 0\r\n'), (socket) => socket.pause());
    expect(trace).toMatchObject({ outcome: 'client_closed', response_status: 499 });
    expect(trace.metadata).not.toHaveProperty('upstream_error');
  });

  test('what a provider says itself', async () => {
    onRequest = (socket) => void socket.write('HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n');
    const { trace, response } = await talk(head('Content-Length: 0\r\n'));
    expect([trace.outcome, trace.response_status, response.slice(0, 12)]).toEqual(['completed', 503, 'HTTP/1.1 503']);
    expect(trace.metadata).not.toHaveProperty('upstream_error');
  });
});

test('a provider that does not read the request gets no more time than for its response', async () => {
  onConnection = (socket) => void socket.pause();
  await using gateway = await startTestGateway({ ...TIMES, SVC_PROVIDERS_OPENAI_UPSTREAM: `http://127.0.0.1:${port}` });
  const response = await rawExchange(`${gateway.url}/openai/v1/files`, { body: Buffer.alloc(30_000_000), headers: {} });
  expect([response.status, JSON.parse(response.head.toString())]).toMatchObject([504, { upstream_error: 'first_byte_timeout' }]);
  expect((await gateway.newest(1)).metadata).toMatchObject({
    upstream_error: 'first_byte_timeout',
    upstream_error_detail: 'request body not taken for 1500 ms',
  });
});
