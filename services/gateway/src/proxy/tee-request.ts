import type { IncomingMessage } from 'node:http';

/** The request's body as the upstream pulls it, with a callback for each chunk. Pulled, so that a slow provider slows the client down. The
 *  client's connection stays open when the provider stops reading: its response is still to be sent on it. */
export async function* teeRequest(request: IncomingMessage, look: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    look(chunk);
    yield chunk;
  }
}
