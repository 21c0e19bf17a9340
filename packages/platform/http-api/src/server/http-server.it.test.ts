import { expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHttpServer, type HttpServer, MAX_IDLE_GRACE_MS, stopServer } from './http-server.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** The time of a shutdown step, which is shorter than the time for a head. */
const STEP_MS = 5_000;

async function open({ server }: HttpServer) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return connect((server.address() as AddressInfo).port, '127.0.0.1');
}

test('a connection whose stream ends after the stop is kept for one more request, whose response ends it', async () => {
  const released = Promise.withResolvers<void>();
  const created = createHttpServer({ maxConnections: 10, correlationHeader: 'X-Correlation-ID' }, (_, response) => {
    response.write('begin');
    void released.promise.then(() => response.end('end'));
  });
  using _connections = created.connections;
  const socket = await open(created);
  socket.write(REQUEST);
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString()).toContain('Connection: keep-alive');
  const { closed } = stopServer(created, MAX_IDLE_GRACE_MS);
  const ended = once(socket, 'data');
  released.resolve();
  await ended;
  socket.write(REQUEST);
  expect(await text(socket)).toMatch(/HTTP\/1.1 200 [^]*\r\nConnection: close\r\n[^]*begin[^]*end/);
  await closed;
});

test.each([
  ['nothing', ''],
  ['part of a head', 'GET / HTTP/1.1\r\nHost'],
  ['a request and part of the next head', `${REQUEST}GET / HTTP/1.1\r\nHost`],
])(
  'G19.1: a connection that has sent %s has no request in flight, and does not hold up the stop',
  async (_, sent) => {
    const created = createHttpServer({ maxConnections: 10, correlationHeader: 'X-Correlation-ID' }, (__, response) =>
      response.end(),
    );
    using _connections = created.connections;
    const accepted = once(created.server, 'connection');
    const socket = await open(created);
    await accepted;
    socket.write(sent);
    if (sent.startsWith(REQUEST)) await once(socket, 'data');
    await stopServer(created, 0).closed;
  },
  STEP_MS,
);

test.each([
  ['response has not begun', 'ab', ''],
  ['body is still arriving, after its response,', 'a', 'b'],
])(
  'G19.1: a request whose %s is in flight, and is finished',
  async (_, sent, rest) => {
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const received = Promise.withResolvers<string>();
    const created = createHttpServer({ maxConnections: 10, correlationHeader: 'X-Correlation-ID' }, (request, response) => {
      if (rest !== '') response.end('complete');
      void text(request).then(received.resolve, received.reject);
      void released.promise.then(() => response.end('complete'));
      begun.resolve();
    });
    using _connections = created.connections;
    const socket = await open(created);
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n${sent}`);
    const response = text(socket);
    await begun.promise;
    const { idleClosed, closed } = stopServer(created, 0);
    await idleClosed;
    released.resolve();
    socket.write(rest);
    expect(await received.promise).toBe('ab');
    expect(await response).toMatch(/^HTTP\/1.1 200 [^]*complete/);
    await closed;
  },
  STEP_MS,
);

test('at most 16 KiB and the rest of one read are kept of a body that is not read', async () => {
  const received: IncomingMessage[] = [];
  const created = createHttpServer({ maxConnections: 10, correlationHeader: 'X-Correlation-ID' }, (request, response) => {
    if (request.method === 'GET') response.end();
    else received.push(request);
  });
  using _connections = created.connections;
  const socket = await open(created);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(60_000)}`);
  const request = await waitUntil(() => received.find(({ readableLength }) => readableLength >= 16_384), { what: 'the body' });
  for (let turn = 0; turn < 20; turn += 1) {
    const other = connect((created.server.address() as AddressInfo).port, '127.0.0.1');
    other.write(REQUEST.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    await text(other);
  }
  const { readableLength } = request;
  socket.destroy();
  created.server.close();
  const ONE_READ = 65_536;
  expect(readableLength).toBeLessThan(16_384 + ONE_READ / '1\r\nx\r\n'.length + 1);
});
