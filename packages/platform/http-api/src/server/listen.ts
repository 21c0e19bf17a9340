import { Fault, codeOf } from '@vitrine/faults/fault';
import type { Server } from 'node:net';
import { z } from 'zod';

/** Keys under `server` of every service, for its listener. */
export const listenKeys = (port: number) => ({
  host: z.string().min(1).default('0.0.0.0'),
  /** 0: any free port. */
  port: z.int().min(0).max(65_535).default(port),
});

/** The address to listen on, and the configuration keys that set it. */
export interface ListenAt {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly hostKey: string;
  readonly portKey: string;
}

/** The URL by which a program on this machine reaches a listener, without a trailing slash. */
export function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Listens; resolves to the URL, such as `http://127.0.0.1:8080`. Faults: `address_unusable`. */
export function listen(server: Server, { host, port, hostKey, portKey }: ListenAt): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  server.once('error', (cause) => {
    const isBusy = codeOf(cause) === 'EADDRINUSE';
    const key = isBusy || codeOf(cause) === 'EACCES' ? portKey : hostKey;
    const reason = isBusy ? 'is already in use' : `cannot be listened on: ${cause.message}`;
    reject(new Fault('address_unusable', { say: `${key}: ${host}:${port} ${reason}`, cause }));
  });
  server.listen(port, host, () => {
    const address = server.address();
    const actual = typeof address === 'object' && address !== null ? address.port : port;
    resolve(urlOf(host, actual));
  });
  return promise;
}
