import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

const MIB = 1024 * 1024;
const DRIP_MS = 20;
const NEVER_ENDING_CHUNK = '<p>more</p>'.repeat(1_000);

/** Reactions of a hostile server to a request for `/`; robots.txt is always missing. */
type HostileBehaviour = (response: ServerResponse, socket: Socket) => void;

const html = (response: ServerResponse, headers: Readonly<Record<string, string>> = {}) =>
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers });
const encoded =
  (encoding: string, body: () => Buffer): HostileBehaviour =>
  (response) =>
    void html(response, { 'content-encoding': encoding }).end(body());
const redirectTo =
  (location: string): HostileBehaviour =>
  (response) =>
    void response.writeHead(302, { location }).end();

/** Many members, each of 16 MiB: 1 GiB from 1 MiB. */
const gzipBomb = () => Buffer.concat(Array.from<Buffer>({ length: 64 }).fill(gzipSync(Buffer.alloc(16 * MIB), { level: 9 })));

export const HOSTILE_BEHAVIOURS = {
  'gzip-bomb': encoded('gzip', gzipBomb),
  'deflate-bomb': encoded('deflate', () => deflateSync(Buffer.alloc(64 * MIB))),
  'raw-deflate-bomb': encoded('deflate', () => deflateRawSync(Buffer.alloc(64 * MIB))),
  'brotli-bomb': encoded('br', () =>
    brotliCompressSync(Buffer.alloc(64 * MIB), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ),
  'zstd-bomb': encoded('zstd', () => zstdCompressSync(Buffer.alloc(64 * MIB))),
  // A frame that requires a window of 128 MiB, and has one byte.
  'zstd-wide-window': encoded('zstd', () => Buffer.from('28b52ffd008809000041', 'hex')),
  'layered-bomb': encoded('gzip, gzip', () => gzipSync(gzipBomb())),
  'unknown-encoding': encoded('compress', () => Buffer.from('x')),
  'no-gzip': encoded('gzip', () => Buffer.from('<html>this is not gzip</html>')),
  'gzip-in-gzip': encoded('gzip', () => gzipSync(gzipSync('<html>a page</html>'))),
  'no-tags': (response) => void html(response).end('nothing to see'),
  'wrong-charset': (response) =>
    void response
      .writeHead(200, { 'content-type': 'text/html; charset=gb18030' })
      .end(Buffer.from('<html>a page of a shop</html>', 'utf16le')),
  'endless-body': (response) => {
    html(response);
    const more = () => {
      while (!response.destroyed && response.write(NEVER_ENDING_CHUNK));
    };
    response.on('drain', more);
    more();
  },
  'slow-drip': (response) => {
    html(response).write('<html>');
    everyDrip(response, () => void response.write('.'));
  },
  'slow-headers': (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    everyDrip(socket, () => void socket.write('x'));
  },
  silence: () => {},
  'header-flood': (_, socket) => {
    const headers = Array.from({ length: 500 }, (_value, index) => `x-${index}: 1\r\n`).join('');
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\n${headers}\r\n`);
  },
  'header-bytes': (_, socket) => {
    socket.end(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(MIB)}\r\n\r\n`);
  },
  'informational-flood': (_, socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(100)));
    };
    socket.on('drain', more);
    more();
  },
  'no-http': (_, socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
  'cut-off': (_, socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 1000\r\n\r\n<html>'),
  'redirect-loop': redirectTo('/'),
  'redirect-to-file': redirectTo('file:///etc/passwd'),
  'redirect-to-port': redirectTo('http://example.org:6379/'),
  'redirect-to-nonsense': redirectTo('http://['),
  'redirect-without-end': (response) => {
    const step = Number(/\d+$/.exec(response.req.url ?? '')?.[0] ?? 0);
    response.writeHead(301, { location: `/step/${step + 1}` }).end();
  },
  'deep-html': (response) => void html(response).end(`<html><body>${'<div>'.repeat(10_000)}deep`),
  'unclosed-links': (response) => void html(response).end(`<html><body>${'<link href='.repeat(40_000)}`),
  'one-attribute': (response) => void html(response).end(`<html><body><a ${'a'.repeat(2 * MIB)}`),
} as const satisfies Readonly<Record<string, HostileBehaviour>>;
export type HostileName = keyof typeof HOSTILE_BEHAVIOURS;

function everyDrip(stream: Socket | ServerResponse, drip: () => void): void {
  const timer = setInterval(() => (stream.destroyed ? clearInterval(timer) : drip()), DRIP_MS);
  stream.on('close', () => clearInterval(timer));
}

export interface HostileServer extends AsyncDisposable {
  readonly port: number;
  /** Accepts connections and closes them, on the https port. */
  readonly closedPort: number;
  /** Number of connections so far. */
  readonly requests: number;
}

/** A loopback server that answers `http://NAME.example.com/` with the behaviour of that name, and other names with `fallback`. */
export async function startHostileServer(fallback?: (path: string, response: ServerResponse) => void): Promise<HostileServer> {
  let requests = 0;
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const name = (request.headers.host ?? '').split('.')[0] ?? '';
    const { socket } = request;
    requests += 1;
    socket.on('error', () => {});
    if (request.url === '/robots.txt') response.writeHead(404).end();
    else if (Object.hasOwn(HOSTILE_BEHAVIOURS, name)) HOSTILE_BEHAVIOURS[name as HostileName](response, socket);
    else if (fallback === undefined) response.writeHead(404).end();
    else fallback(request.url ?? '/', response);
  });
  const closed = createServer((socket) => {
    socket.on('error', () => {});
    socket.destroy();
  });
  for (const one of [server, closed]) {
    one.listen(0, '127.0.0.1');
    await once(one, 'listening');
  }
  return {
    port: (server.address() as AddressInfo).port,
    closedPort: (closed.address() as AddressInfo).port,
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      const ended = [server, closed].map((one) => once(one, 'close'));
      server.close();
      closed.close();
      server.closeAllConnections();
      await Promise.all(ended);
    },
  };
}
