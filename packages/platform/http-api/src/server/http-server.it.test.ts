import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHttpServer, MAX_IDLE_GRACE_MS, stopServer } from './http-server.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('a connection whose stream ends after the stop is kept for one more request, whose response ends it', async () => {
  const released = Promise.withResolvers<void>();
  const created = createHttpServer({ maxConnections: 10, correlationHeader: 'X-Correlation-ID' }, (_, response) => {
    response.write('begin');
    void released.promise.then(() => response.end('end'));
  });
  using _connections = created.connections;
  created.server.listen(0, '127.0.0.1');
  await once(created.server, 'listening');
  const socket = connect((created.server.address() as AddressInfo).port, '127.0.0.1');
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
