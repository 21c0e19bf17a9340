import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, createServer as createTcp, type AddressInfo, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { UpstreamHandler } from './upstream-connection.ts';
import { UpstreamPool } from './upstream-pool.ts';

const pem = (name: string) => readFileSync(new URL(`testdata/${name}.pem`, import.meta.url), 'utf8');
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n';
const TLS_ALERT = Buffer.from('15030100020228', 'hex');

let opened: AsyncDisposableStack;
beforeEach(() => {
  opened = new AsyncDisposableStack();
});
afterEach(async () => opened.disposeAsync());

/** Listens on a free port and returns `host:port`. */
async function at(server: Server, host = '127.0.0.1'): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `${host}:${(server.address() as AddressInfo).port}`;
}

/** Runs this on every new connection. */
const accepting = (act: (socket: Socket) => void) => at(createTcp(act));
/** Runs this on every connection when a request has arrived. */
const respondingWith = (act: (socket: Socket) => void) => at(createTcp((socket) => socket.on('data', () => act(socket))));
const overTls = (more: object = {}, host = 'localhost') => {
  const options = { key: pem('localhost-key'), cert: pem('localhost'), ...more };
  return at(
    createHttps(options, (_, response) => void response.end()),
    host,
  );
};

const poolTo = (origin: string, ca?: string) =>
  opened.use(new UpstreamPool({ origin, connect_timeout_ms: 300, ...(ca === undefined ? {} : { ca }) }));

interface Ended {
  readonly code: string;
  readonly message: string;
}

/** Sends a request and returns its result. */
function ask(pool: UpstreamPool, body: Buffer | AsyncIterable<Buffer> = Buffer.from('{}')) {
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  const chunks: Buffer[] = [];
  const handler: UpstreamHandler = {
    onHead: () => {},
    onData: (chunk) => void chunks.push(Buffer.from(chunk)),
    onReadEnd: () => {},
    onRetry: () => {},
    onEnd: () => resolve({ code: '', message: '' }),
    onError: (error) => resolve({ code: codeOf(error), message: messageOf(error) }),
  };
  const control = pool.send({ method: 'POST', path: '/', headers: [], body }, handler);
  return { ended, chunks, control, handler };
}

const expectFailure = async (pool: UpstreamPool, code: string, message: RegExp) =>
  expect(await ask(pool).ended).toEqual({ code, message: expect.stringMatching(message) });

describe('no connection', () => {
  test.each([
    ['a name that does not exist', 'http://provider.invalid', 'dns', /^getaddrinfo E\w+ provider\.invalid$/],
    ['a port without a listener', 'http://127.0.0.1:1', 'connect_refused', /^connect ECONNREFUSED 127.0.0.1:1$/],
    ['no port at any address of a name', 'http://localhost:1', 'connect_refused', /^connect ECONNREFUSED [\d.:]+:1/],
    ['an address without a route', 'http://255.255.255.255', 'connect_refused', /^connect E[A-Z]+ 255.255.255.255:80/],
  ])('%s', (_, origin, code, message) => expectFailure(poolTo(origin), code, message));

  test('a host that accepts no more connections, like one behind a firewall that drops them', async () => {
    // Listens with a backlog of one and accepts nothing.
    const listener = new Worker(
      `const { createServer } = require('node:net');
       const { parentPort } = require('node:worker_threads');
       const server = createServer().listen(0, '127.0.0.1', 1, () => {
         parentPort.postMessage(server.address().port);
         setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
       });`,
      { eval: true },
    );
    opened.defer(async () => void (await listener.terminate()));
    const [port] = (await once(listener, 'message')) as [number];
    const waiting = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    opened.defer(() => waiting.forEach((socket) => socket.destroy()));
    await waitUntil(() => waiting.some((socket) => !socket.connecting), { what: 'the queue to fill' });
    await expectFailure(
      poolTo(`http://127.0.0.1:${port}`),
      'connect_timeout',
      /^no TCP connection with 127.0.0.1 within 300 ms$/,
    );
  });

  test('no reply to a TLS handshake', async () => {
    const address = await accepting(() => {});
    await expectFailure(poolTo(`https://${address}`), 'connect_timeout', /^no TLS handshake with 127.0.0.1 within 300 ms$/);
  });
});

describe('failed TLS connections', () => {
  test.each<[string, () => Promise<string>, RegExp]>([
    ['plain HTTP behind https', () => at(createHttp()), /^EPROTO: wrong version number$/],
    ['an end of the connection', () => accepting((socket) => socket.end()), /^connection closed within the TLS handshake$/],
    ['a reset', () => accepting((socket) => socket.resetAndDestroy()), /ECONNRESET/],
    ['bytes of no protocol', () => accepting((socket) => socket.write(Buffer.alloc(64, 'x'))), /^EPROTO: |^ERR_SSL_/],
    ['an alert', () => accepting((socket) => socket.write(TLS_ALERT)), /handshake failure$/],
    ['a self-signed certificate', () => overTls(), /^DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate/],
  ])('%s', async (_, address, message) => expectFailure(poolTo(`https://${await address()}`), 'tls', message));

  const own = { requestCert: true, ca: pem('localhost') };
  test.each([
    ['for another name', '[::ffff:127.0.0.1]', {}, 'localhost', /^ERR_TLS_CERT_ALTNAME_INVALID: .*IP: ::ffff:7f00:1 is not in/],
    ['that has expired', 'localhost', { cert: pem('localhost-expired') }, 'localhost-expired', /^CERT_HAS_EXPIRED: certificate/],
    ['and asks for one of ours', 'localhost', own, 'localhost', /^ERR_SSL_\w*CERTIFICATE_REQUIRED: /],
  ])('a certificate %s', async (_, host, more, trusted, message) => {
    const server = createHttps({ key: pem('localhost-key'), cert: pem('localhost'), ...more });
    const [, port] = (await at(server)).split(':');
    await expectFailure(poolTo(`https://${host}:${port}`, pem(trusted)), 'tls', message);
  });
});

describe('a connection that breaks', () => {
  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['ends before the response', (socket) => socket.end(), /^connection closed before the response$/],
    ['is reset before the response', (socket) => socket.resetAndDestroy(), /^read ECONNRESET before the response$/],
    ['ends in a head', (socket) => socket.end('HTTP/1.1 200'), /^connection closed within the response head$/],
    ['ends in a body', (socket) => socket.end(`${OK}\r\nh`), /^connection closed within the response body$/],
    ['ends after hints', (socket) => socket.end('HTTP/1.1 103 x\r\n\r\n'), /^connection closed after an informational response$/],
  ])('%s', async (_, act, message) => expectFailure(poolTo(`http://${await respondingWith(act)}`), 'reset', message));

  test.each<[string, (socket: Socket) => void]>([
    ['reset', (socket) => socket.resetAndDestroy()],
    ['closed', (socket) => socket.end()],
  ])('is %s as soon as it is accepted', async (_, act) => {
    await expectFailure(poolTo(`http://${await accepting(act)}`), 'reset', / before the response$/);
  });

  test('is closed by the provider just as it is reused', async () => {
    let requests = 0;
    const address = await respondingWith((socket) => {
      requests += 1;
      if (requests === 1) socket.write(`${OK}\r\nhi`);
      else socket.resetAndDestroy();
    });
    const pool = poolTo(`http://${address}`);
    await ask(pool).ended;
    const detail = /^read ECONNRESET before the response, on a reused connection, after bytes of the request had been written$/;
    await expectFailure(pool, 'reset', detail);
  });
});

test.each<[string, string | Buffer, RegExp]>([
  ['TLS behind http', TLS_ALERT, /^invalid status line: the provider uses TLS$/],
  ['another protocol', '220 mail.test ESMTP\r\n', /^invalid status line$/],
  ['a header without a colon', `${OK}a b\r\n\r\n`, /^invalid header line 2$/],
  ['a wrong chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n', /^invalid chunk size$/],
])('a malformed response: %s', async (_, bytes, message) => {
  const address = await respondingWith((socket) => socket.write(bytes));
  await expectFailure(poolTo(`http://${address}`), 'malformed_response', message);
});

test('an interrupted request body is not the fault of the provider', async () => {
  const broken = async function* () {
    yield Buffer.from('one');
    throw new Error('aborted');
  };
  const pool = poolTo(`http://${await respondingWith(() => {})}`);
  expect(await ask(pool, broken()).ended).toMatchObject({ code: 'request_aborted' });
});

test('the progress of a request can be read while it lasts', async () => {
  const pool = poolTo(`http://${await respondingWith((socket) => socket.write(`${OK}\r\nh`))}`);
  const { control, handler, chunks } = ask(pool);
  expect(control.progress(handler)).toMatchObject({ stage: 'connect', received: 'before the response' });
  await waitUntil(() => chunks.length > 0, { what: 'a chunk of the body' });
  expect(control.progress(handler)).toEqual({ stage: 'open', isSendingBlocked: false, received: 'within the response body' });
  control.abort(handler);
  expect(control.progress(handler)).toBeUndefined();
});
