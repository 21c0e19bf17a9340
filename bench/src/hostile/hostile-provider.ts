import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { HostileResponse } from './hostile-responses.ts';
import { readStrictly, type StrictRequest } from './strict-requests.ts';

/** A provider that reads requests strictly, byte by byte as the gateway sends them, and responds with the given bytes. */
export interface HostileProvider extends AsyncDisposable {
  readonly port: number;
  /** Targets of the requests with a complete head, and of the complete ones; the caller empties them. */
  readonly begun: string[];
  readonly whole: string[];
  /** Received bytes that a strict reader refuses. */
  readonly refused: string[];
}

export async function startHostileProvider(responseTo: (request: StrictRequest) => HostileResponse): Promise<HostileProvider> {
  const begun: string[] = [];
  const whole: string[] = [];
  const refused: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let rest = '';
    let isBegun = false;
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      rest += chunk;
      const reading = readStrictly(rest);
      if (reading.refusal !== undefined) {
        refused.push(`${reading.refusal}: ${JSON.stringify(rest.slice(0, 400))}`);
        socket.destroy();
        return;
      }
      for (const request of reading.whole) {
        if (!isBegun) begun.push(request.target);
        isBegun = false;
        whole.push(request.target);
        const { bytes, ending } = responseTo(request);
        socket.write(bytes, () => {
          if (ending === 'reset') socket.resetAndDestroy();
          else if (ending === 'close') socket.end();
        });
      }
      rest = rest.slice(reading.consumed);
      if (reading.begun !== undefined && !isBegun) {
        isBegun = true;
        begun.push(reading.begun.target);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    begun,
    whole,
    refused,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
