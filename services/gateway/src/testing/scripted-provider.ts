import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedRequest {
  readonly method: string;
  /** Query included. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** How the body ends: by its length (the default), by its last chunk, with the connection, or not at all: the connection is cut. */
  readonly end?: 'length' | 'chunked' | 'close' | 'cut';
}

/** A provider whose responses a test writes, for cases where the mock providers are too well-formed. `respond` may be asynchronous. */
export async function startScriptedProvider(
  respond: (request: ScriptedRequest) => ScriptedResponse | Promise<ScriptedResponse>,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, body: Buffer.concat(chunks).toString() };
      void Promise.resolve(respond(received)).then((scripted) => write(response, scripted));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function write(response: ServerResponse, { status = 200, headers = {}, body = '', end = 'length' }: ScriptedResponse): void {
  response.sendDate = false;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  if (end === 'length') response.setHeader('Content-Length', Buffer.byteLength(body));
  if (end === 'close') for (const name of ['Content-Length', 'Transfer-Encoding']) response.removeHeader(name);
  if (end === 'cut') response.write(body, () => response.destroy());
  else response.end(body);
}
