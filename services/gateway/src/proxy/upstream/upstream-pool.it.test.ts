import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp, type AddressInfo, type Socket } from 'node:net';
import type { UpstreamRequest } from './request-head.ts';
import type { UpstreamControl } from './upstream-connection.ts';
import { UpstreamPool } from './upstream-pool.ts';

const pem = (name: string) => readFileSync(new URL(`testdata/${name}.pem`, import.meta.url), 'utf8');

let opened: AsyncDisposableStack;
beforeEach(() => {
  opened = new AsyncDisposableStack();
});
afterEach(async () => opened.disposeAsync());

/** The result of one request. */
interface Received {
  readonly status: number;
  readonly body: Buffer;
}

class Consumer {
  readonly #done = Promise.withResolvers<Received>();
  readonly response = this.#done.promise;
  readonly chunks: Buffer[] = [];
  control: UpstreamControl | undefined;
  status = 0;
  retries = 0;
  ends = 0;

  onHead({ status }: { status: number }): void {
    this.status = status;
  }
  onData(chunk: Buffer): void {
    this.chunks.push(Buffer.from(chunk));
  }
  onReadEnd(): void {}
  onRetry(control: UpstreamControl): void {
    this.control = control;
    this.retries += 1;
  }
  onEnd(): void {
    this.ends += 1;
    this.#done.resolve({ status: this.status, body: Buffer.concat(this.chunks) });
  }
  onError(error: Error): void {
    this.ends += 1;
    this.#done.reject(error);
  }
}

function ask(pool: UpstreamPool, more: Partial<UpstreamRequest> = {}): Consumer {
  const consumer = new Consumer();
  consumer.control = pool.send({ method: 'POST', path: '/', headers: [], body: Buffer.from('{}'), ...more }, consumer);
  return consumer;
}

async function listening(server: Server, scheme = 'http'): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${scheme}://localhost:${(server.address() as AddressInfo).port}`;
}

const poolTo = (origin: string, more = {}) => opened.use(new UpstreamPool({ origin, connect_timeout_ms: 1_000, ...more }));

/** A server whose connections the test drives. */
async function byHand(talk: (socket: Socket, text: string) => void): Promise<{ origin: string; connections: () => number }> {
  let connections = 0;
  const server = createTcp((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.on('data', (bytes) => talk(socket, bytes.toString('latin1')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

/** Resolves when the connections of a pool have been idle for so long that they are read before they are used. */
async function rest(): Promise<void> {
  const idleSince = performance.now();
  await waitUntil(() => performance.now() - idleSince > 2, { what: 'two milliseconds' });
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n';

describe('connections', () => {
  const counted = async (listener: RequestListener) => {
    const server = createHttp(listener);
    let connections = 0;
    server.on('connection', () => (connections += 1));
    return { origin: await listening(server), connections: () => connections };
  };

  test('are reused, one request at a time', async () => {
    const { origin, connections } = await counted((request, response) => void request.pipe(response));
    const pool = poolTo(origin);
    for (let i = 0; i < 5; i += 1) expect((await ask(pool, { body: Buffer.from(`${i}`) }).response).body.toString()).toBe(`${i}`);
    expect(connections()).toBe(1);
    await Promise.all(Array.from({ length: 4 }, () => ask(pool).response));
    expect(connections()).toBe(4);
  });

  test.each([
    ['says close', `${OK}Connection: close\r\n\r\nhi`],
    ['sends more than one response', `${OK}\r\nhiHTTP/1.1 200 OK\r\n\r\n`],
    ['says that it keeps nothing', `${OK}Keep-Alive: timeout=1\r\n\r\nhi`],
  ])('are not reused when the provider %s', async (_, text) => {
    const { origin, connections } = await byHand((socket) => void socket.write(text));
    const pool = poolTo(origin);
    expect((await ask(pool).response).body.toString()).toBe('hi');
    await waitUntil(
      async () => {
        await ask(pool).response;
        return connections() > 1;
      },
      { what: 'another connection' },
    );
  });

  test('that were closed meanwhile are replaced', async () => {
    const sockets: Socket[] = [];
    const { origin, connections } = await byHand((socket) => {
      sockets.push(socket);
      socket.write(`${OK}\r\nhi`);
    });
    const pool = poolTo(origin);
    await ask(pool).response;
    const closed = once(sockets[0] as Socket, 'close');
    sockets[0]?.end();
    await closed;
    expect((await ask(pool).response).status).toBe(200);
    expect(connections()).toBe(2);
  });

  test('a finished exchange no longer affects its former connection', async () => {
    const { origin, connections } = await counted((request, response) => void request.pipe(response));
    const pool = poolTo(origin);
    const first = ask(pool);
    await first.response;
    const second = ask(pool);
    first.control?.abort(first);
    first.control?.pause(first);
    expect((await second.response).status).toBe(200);
    expect(connections()).toBe(1);
  });

  test('that fail are reported: refused, and timed out', async () => {
    const { origin } = await byHand(() => {});
    const refused = poolTo('http://127.0.0.1:1');
    await expect(ask(refused).response).rejects.toMatchObject({ code: 'connect_refused' });
    // Nothing responds to the handshake.
    const silent = poolTo(origin.replace('http:', 'https:'), { connect_timeout_ms: 50 });
    await expect(ask(silent).response).rejects.toMatchObject({ code: 'connect_timeout' });
  });

  test('end with the pool, and so do their exchanges', async () => {
    const { origin } = await byHand(() => {});
    const pool = new UpstreamPool({ origin, connect_timeout_ms: 1_000 });
    const consumer = ask(pool);
    pool[Symbol.dispose]();
    await expect(consumer.response).rejects.toMatchObject({ code: 'request_failed' });
    expect(consumer.ends).toBe(1);
  });
});

describe('G11.27: a reused connection that closes after the event loop has looked for its end, and before the request is written,', () => {
  /** Reuses a connection that `close` closes at that moment. The loopback interface delivers at once. */
  async function reuse(method: string, close: (socket: Socket) => void) {
    let first: Socket | undefined;
    const requests: string[] = [];
    const { origin } = await byHand((socket, text) => {
      first ??= socket;
      requests.push(text.slice(0, text.indexOf(' ')));
      socket.write(`${OK}\r\nhi`);
    });
    const pool = poolTo(origin);
    await ask(pool).response;
    await rest();
    setImmediate(() => setImmediate(() => first && close(first)));
    return { pool, requests, consumer: ask(pool, { method }) };
  }

  test.each(['POST', 'GET'])('by a reset: nothing of the %s was written, and it is sent again', async (method) => {
    const { pool, requests, consumer } = await reuse(method, (socket) => socket.resetAndDestroy());
    expect((await consumer.response).status).toBe(200);
    expect([consumer.retries, pool.retries, requests]).toEqual([1, 1, ['POST', method]]);
  });

  test('by its end: bytes of a POST were written, and it fails', async () => {
    const { pool, consumer } = await reuse('POST', (socket) => socket.end());
    await expect(consumer.response).rejects.toMatchObject({
      code: 'reset',
      message: expect.stringMatching(/, on a reused connection, after bytes of the request had been written$/),
    });
    expect(pool.retries).toBe(0);
  });
});

test.each<[string, (socket: Socket) => void]>([
  ['the end of its connection', (socket) => socket.end()],
  ['a reset of its connection', (socket) => socket.resetAndDestroy()],
  ['a response to nothing', (socket) => void socket.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n')],
])('G11.27: a POST is not written after %s has arrived, and is sent on a new one', async (_, act) => {
  const sockets: Socket[] = [];
  const { origin, connections } = await byHand((socket) => {
    sockets.push(socket);
    socket.write(`${OK}\r\nhi`);
  });
  const pool = poolTo(origin);
  await ask(pool).response;
  await rest();
  if (sockets[0] !== undefined) act(sockets[0]);
  const consumer = ask(pool);
  expect((await consumer.response).status).toBe(200);
  expect([consumer.retries, pool.retries, connections(), sockets.length]).toEqual([1, 1, 2, 2]);
});

test('a connection that the provider keeps for only a second is not reused', async () => {
  const { origin, connections } = await byHand((socket) => void socket.write(`${OK}Keep-Alive: timeout=1\r\n\r\nhi`));
  const pool = poolTo(origin);
  for (let i = 0; i < 3; i += 1) await ask(pool).response;
  expect(connections()).toBe(3);
});

describe('over TLS', () => {
  const echo = () =>
    createHttps({ key: pem('localhost-key'), cert: pem('localhost') }, (request, response) => void request.pipe(response));

  test('bodies of any size pass, and connections are reused', async () => {
    const server = echo();
    let connections = 0;
    server.on('secureConnection', () => (connections += 1));
    const pool = poolTo(await listening(server, 'https'), { ca: pem('localhost') });
    for (const size of [1, 70_000, 3_000_000]) {
      const body = Buffer.alloc(size, 'abcdefg');
      expect((await ask(pool, { body }).response).body.equals(body)).toBe(true);
    }
    expect(connections).toBe(1);
  });

  test('an untrusted certificate or another name is refused', async () => {
    const origin = await listening(echo(), 'https');
    await expect(ask(poolTo(origin)).response).rejects.toMatchObject({ code: 'tls' });
    const elsewhere = poolTo(origin.replace('localhost', '[::ffff:127.0.0.1]'), { ca: pem('localhost') });
    await expect(ask(elsewhere).response).rejects.toMatchObject({ code: 'tls' });
  });
});

describe('a streamed body', () => {
  async function* chunks(...texts: readonly string[]): AsyncGenerator<Buffer> {
    for (const text of texts) yield Buffer.from(text);
  }

  test.each([
    ['chunked', []],
    ['of a known length', ['Content-Length', '9']],
  ])('%s arrives complete', async (_, headers) => {
    const pool = poolTo(await listening(createHttp((request, response) => void request.pipe(response))));
    expect((await ask(pool, { headers, body: chunks('one', '', 'two', 'six') }).response).body.toString()).toBe('onetwosix');
  });

  test.each([
    ['shorter', '8'],
    ['longer', '10'],
  ])('with another length than announced fails: %s', async (_, length) => {
    const pool = poolTo(await listening(createHttp((request, response) => void request.pipe(response))));
    const consumer = ask(pool, { headers: ['Content-Length', length], body: chunks('one', 'two', 'six') });
    await expect(consumer.response).rejects.toMatchObject({ code: 'request_failed' });
  });

  test('waits for a provider that does not read', async () => {
    let pulled = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        pulled += 1;
        yield Buffer.alloc(65_536);
      }
    }
    const server = createTcp((socket) => void socket.pause().on('error', () => {}));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.defer(() => void server.close());
    const pool = poolTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const consumer = ask(pool, { body: endless() });
    let last = -1;
    await waitUntil(() => pulled === last || void (last = pulled), { what: 'the upload to stand still' });
    expect(pulled).toBeLessThan(1_000);
    consumer.control?.abort(consumer);
    expect(consumer.ends).toBe(0);
  });
});

test('a paused response continues when it is resumed', async () => {
  const body = Buffer.alloc(20_000_000, 'x');
  const pool = poolTo(await listening(createHttp((_, response) => void response.end(body))));
  const consumer = ask(pool);
  await waitUntil(() => consumer.chunks.length > 0, { what: 'the first chunk' });
  consumer.control?.pause(consumer);
  let last = -1;
  const received = () => consumer.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  await waitUntil(() => received() === last || void (last = received()), { what: 'the response to stop' });
  expect(received()).toBeLessThan(body.length);
  consumer.control?.resume(consumer);
  expect((await consumer.response).body.equals(body)).toBe(true);
});
