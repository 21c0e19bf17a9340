import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider that returns what it is sent. */
export interface EchoProvider extends AsyncDisposable {
  readonly url: string;
  /** Event streams by name: a request names one in `x-stream`; in `x-bytewise`, that it is to come byte by byte. */
  readonly streams: Map<string, string>;
  /** Target, headers and body of each received request, as one text. */
  readonly requests: readonly string[];
}

export async function startEchoProvider(): Promise<EchoProvider> {
  const streams = new Map<string, string>();
  const requests: string[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    requests.push([request.url, ...request.rawHeaders, body.toString('latin1')].join('\n'));
    const { 'x-stream': name, 'x-bytewise': bytewise, 'x-note': note = '' } = request.headers;
    const stream = streams.get(String(name));
    const type = stream === undefined ? (request.headers['content-type'] ?? 'text/plain') : 'text/event-stream';
    response.writeHead(200, { 'content-type': type, 'x-note': note });
    if (stream !== undefined && bytewise !== undefined) for (const one of Buffer.from(stream)) response.write(Buffer.of(one));
    response.end(stream === undefined ? body : bytewise === undefined ? stream : undefined);
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
