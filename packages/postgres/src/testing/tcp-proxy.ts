import { Secret } from '@vitrine/config/secret';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A way to a database that can be cut, frozen, and opened again at the same port. */
export interface TcpProxy extends AsyncDisposable {
  readonly dsn: Secret;
  open(): Promise<void>;
  /** Refuses connections, and ends those that are there. */
  close(): Promise<void>;
  /** Lets the connections stand, without a byte from then on. */
  freeze(): void;
}

export async function openTcpProxy(dsn: Secret): Promise<TcpProxy> {
  const to = new URL(dsn.reveal());
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    const upstream = connect(Number(to.port), to.hostname);
    for (const socket of [from, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    from.pipe(upstream).pipe(from);
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
  return {
    dsn: new Secret(url.href),
    async open() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: close,
  };
}
