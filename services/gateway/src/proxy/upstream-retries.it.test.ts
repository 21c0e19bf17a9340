import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { TraceDetail } from '@vitrine/traces/trace';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { rawExchange } from '../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const RACES = 150;
/** When the provider closes a connection after the response on it. */
const IDLE_MS = 4;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const WRITTEN =
  /^(?:connection closed|read ECONNRESET|write EPIPE) before the response, on a reused connection, after bytes of the request had been written$/;

let opened: AsyncDisposableStack;
let gateway: TestGateway;
/** The request lines that the provider has received. */
let received: string[];
/** What the provider does with the n-th request of a connection, from 1 on. */
let onRequest: (socket: Socket, n: number) => void;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  received = [];
  const server = createServer((socket) => {
    let n = 0;
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const [line] = /^[A-Z]+ \S+(?= HTTP)/.exec(bytes.toString('latin1')) ?? [];
      if (line === undefined) return;
      received.push(line);
      onRequest(socket, (n += 1));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => void server.close());
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gateway = opened.use(await startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: upstream, SVC_PROMETHEUS_ENABLED: 'true' }));
});
afterEach(async () => opened.disposeAsync());

const send = async (method: string, path: string, body?: Buffer | Iterable<Buffer>) =>
  (await rawExchange(`${gateway.url}/openai${path}`, { method, ...(body === undefined ? {} : { body }) })).status;

async function detailsOf(count: number): Promise<TraceDetail[]> {
  const details: TraceDetail[] = [];
  for (const { id } of await gateway.traces(count)) details.push((await gateway.get(`/api/traces/${id}`)) as TraceDetail);
  return details;
}

describe(`G11.27: of ${RACES} requests, each sent about when the provider closes the connection that it would reuse,`, () => {
  beforeEach(() => {
    onRequest = (socket) => {
      socket.write(OK);
      setTimeout(() => socket.end(), IDLE_MS);
    };
  });

  async function race(method: string, body?: Buffer): Promise<number[]> {
    const statuses: number[] = [];
    for (let n = 0; n < RACES; n += 1) {
      statuses.push(await send(method, `/${n}`, body));
      await delay(IDLE_MS - 1 + (n % 3));
    }
    return statuses;
  }

  test('no GET fails', async () => {
    expect((await race('GET')).filter((status) => status !== 200)).toEqual([]);
    const traces = await detailsOf(RACES);
    expect(traces.filter(({ metadata }) => metadata['retries'] === 1).length).toBeGreaterThan(0);
    expect(traces.filter(({ outcome }) => outcome !== 'completed')).toEqual([]);
  });

  test('a POST fails only if bytes of it had been written, and its trace shows that; none arrives twice', async () => {
    const failures = (await race('POST', Buffer.from('{}'))).filter((status) => status !== 200);
    const traces = await detailsOf(RACES);
    const failed = traces.filter(({ outcome }) => outcome !== 'completed');
    expect(failed).toHaveLength(failures.length);
    for (const { outcome, response_status: status, metadata } of failed) {
      expect([outcome, status]).toEqual(['upstream_error', 502]);
      expect(metadata).toMatchObject({ upstream_error: 'reset', upstream_error_detail: expect.stringMatching(WRITTEN) });
      expect(metadata).not.toHaveProperty('retries');
    }
    expect(new Set(received).size).toBe(received.length);
  });
});

describe('G11.27: a reused connection that closes', () => {
  /** Closes a connection at its second request. */
  const onSecond = (close: (socket: Socket) => void) => {
    onRequest = (socket, n) => void (n === 1 ? socket.write(OK) : close(socket));
  };
  const retriesOf = ({ metadata }: TraceDetail) => metadata['retries'];

  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])(
    'leads to one retry of %s, which the trace and the metric count',
    async (method) => {
      onSecond((socket) => socket.end());
      expect(await send('POST', '/first', Buffer.from('{}'))).toBe(200);
      expect(await send(method, '/second', method === 'PUT' ? Buffer.from('{}') : undefined)).toBe(200);
      expect(received).toEqual(['POST /first', `${method} /second`, `${method} /second`]);
      const [second, first] = await detailsOf(2);
      expect([first, second].map((trace) => trace && retriesOf(trace))).toEqual([undefined, 1]);
      expect(second).toMatchObject({ outcome: 'completed', response_status: 200 });
      expect(second?.metadata).not.toHaveProperty('upstream_error');
      const scrape = await (await fetch(`${gateway.url}/metrics`)).text();
      const counts = [...scrape.matchAll(/^svc_provider_retry_total\{provider="(\w+)"\} (\d+)$/gm)];
      expect(counts.map(([, provider, count]) => [provider, count])).toEqual([
        ['openai', '1'],
        ['anthropic', '0'],
      ]);
    },
  );

  test('leads to no second retry', async () => {
    onRequest = (socket) => void (received.length === 1 ? socket.write(OK) : socket.end());
    expect(await send('GET', '/first')).toBe(200);
    expect(await send('GET', '/second')).toBe(502);
    expect(received).toEqual(['GET /first', 'GET /second', 'GET /second']);
    expect((await gateway.newest(2)).metadata).toMatchObject({
      retries: 1,
      upstream_error: 'reset',
      upstream_error_detail: 'connection closed before the response',
    });
  });

  test.each<[string, string, string, Buffer | Iterable<Buffer> | undefined, RegExp]>([
    ['POST', 'POST', '', Buffer.from('{}'), WRITTEN],
    ['PATCH', 'PATCH', '', Buffer.from('{}'), WRITTEN],
    ['a streamed PUT, whose body is gone', 'PUT', '', [Buffer.from('{}')], WRITTEN],
    ['a GET whose response has begun', 'GET', 'HTTP/1.1 2', undefined, /^connection closed within the response head$/],
    [
      'a GET with an informational response',
      'GET',
      'HTTP/1.1 102 Processing\r\n\r\n',
      undefined,
      /^connection closed after an informational response$/,
    ],
  ])('leads to no retry of %s', async (_, method, bytes, body, detail) => {
    onSecond((socket) => socket.end(bytes));
    expect(await send('GET', '/first')).toBe(200);
    expect(await send(method, '/second', body)).toBe(502);
    expect(received).toEqual(['GET /first', `${method} /second`]);
    const { metadata } = await gateway.newest(2);
    expect(metadata).toMatchObject({ upstream_error: 'reset', upstream_error_detail: expect.stringMatching(detail) });
    expect(metadata).not.toHaveProperty('retries');
  });

  test('is not reused because it was new: a first request is not retried', async () => {
    onRequest = (socket) => socket.end();
    expect(await send('GET', '/first')).toBe(502);
    expect(received).toEqual(['GET /first']);
  });
});
