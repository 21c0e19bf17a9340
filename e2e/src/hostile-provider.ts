import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** What a hostile provider does to the connection after writing its bytes. */
export type AfterWriting = 'close' | 'reset' | 'keep';

export interface HostileResponse {
  readonly bytes: Uint8Array | string;
  /** `keep` leaves the connection open, as a provider that serves more than one request. */
  readonly afterwards: AfterWriting;
}

export interface HostileProvider extends AsyncDisposable {
  readonly url: string;
  /** The response to every request from now on; a function of the request's head, if need be. */
  response: HostileResponse | ((head: string) => HostileResponse);
  /** Connections that are open. */
  readonly connections: number;
}

/** A server that reads heads of requests and responds to each with the configured bytes. */
export async function startHostileProvider(): Promise<HostileProvider> {
  const sockets = new Set<Socket>();
  const provider: { response: HostileProvider['response'] } = { response: { bytes: '', afterwards: 'close' } };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let seen = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      seen += text;
      if (!isWholeRequest(seen)) return;
      const { bytes, afterwards } = typeof provider.response === 'function' ? provider.response(seen) : provider.response;
      seen = '';
      const ended = () => {
        if (afterwards === 'reset') socket.resetAndDestroy();
        else if (afterwards === 'close') socket.end();
      };
      if (bytes.length === 0) ended();
      else socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, ended);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    get response() {
      return provider.response;
    },
    set response(response) {
      provider.response = response;
    },
    get connections() {
      return sockets.size;
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Whether a head and the body that its content-length announces are there. */
function isWholeRequest(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, headEnd))?.[1] ?? 0);
  return text.length >= headEnd + 4 + length;
}
