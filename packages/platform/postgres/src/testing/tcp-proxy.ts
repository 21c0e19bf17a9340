import { Secret } from '@vitrine/config/secret';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A proxy to a database that can be cut, frozen, and reopened at the same port. */
export interface TcpProxy extends AsyncDisposable {
  readonly dsn: Secret;
  open(): Promise<void>;
  /** Refuses connections and closes existing ones. */
  close(): Promise<void>;
  /** Keeps the connections open without forwarding bytes. */
  freeze(): void;
  /** Like `freeze`, also for new connections until it is reopened: they are accepted but never answered. */
  hang(): void;
  /** Closes the connection that next sends `marker`. `request`: before the database gets it; `response`: when its response has arrived, without
   *  forwarding it. `isLast`: also closes all others and accepts no more. */
  cutAt(marker: string, what: 'request' | 'response', isLast?: boolean): void;
}

export async function openTcpProxy(dsn: Secret): Promise<TcpProxy> {
  const to = new URL(dsn.reveal());
  const sockets = new Set<Socket>();
  let [isRefusing, isHanging] = [false, false];
  const server = createServer((from) => {
    if (isRefusing) {
      from.destroy();
      return;
    }
    if (isHanging) {
      sockets.add(from.pause());
      from.on('error', () => {}).on('close', () => sockets.delete(from));
      return;
    }
    const upstream = connect(Number(to.port), to.hostname);
    for (const socket of [from, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    from.pipe(cutter(from, upstream)).pipe(upstream).pipe(from);
  });
  let cut: { readonly marker: string; readonly what: 'request' | 'response'; readonly isLast: boolean } | undefined;
  const cutter = (from: Socket, upstream: Socket) =>
    new Transform({
      transform(chunk: Buffer, _, done) {
        if (cut === undefined || !chunk.includes(cut.marker)) return done(null, chunk);
        const { what, isLast } = cut;
        cut = undefined;
        // Keeps the port, because another process could take it before it is reopened.
        isRefusing = isLast;
        const end = () => {
          for (const socket of isLast ? sockets : [from, upstream]) socket.destroy();
        };
        if (what === 'request') return end();
        upstream.unpipe(from).once('data', end).resume();
        done(null, chunk);
      },
    });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = new URL(to);
  [url.hostname, url.port] = ['127.0.0.1', String(port)];
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await once(server.close(), 'close');
  };
  const freeze = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return {
    dsn: new Secret(url.href),
    async open() {
      if (isHanging) for (const socket of sockets) socket.destroy();
      [isRefusing, isHanging] = [false, false];
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close,
    freeze,
    hang() {
      isHanging = true;
      freeze();
    },
    cutAt(marker, what, isLast = false) {
      cut = { marker, what, isLast };
    },
    [Symbol.asyncDispose]: close,
  };
}
