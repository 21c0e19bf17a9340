import type { IncomingMessage } from 'node:http';
import type { BodyCapture } from '../../recording/capture/body-capture.ts';
import { BodyChunks } from '@vitrine/http-api/requests/body-chunks';
import { contentCodingOf } from '@vitrine/privacy/bodies/body-kind';

/** Request bodies up to this length are sent in one write with their head; longer ones and those of unknown length stream. */
const BUFFERED_MAX_BYTES = 65_536;

/** A request's body as sent to the upstream; undefined without a body. */
export type RequestBody = Buffer | AsyncIterable<Buffer> | undefined;

/** Reads a request's body, which `sent` captures on the way, and calls `send` with it. Calls at once if there is no body or it streams, else when
 *  the body has arrived. `onChunk` is called for every chunk of a stream. */
export function readRequestBody(
  request: IncomingMessage,
  sent: BodyCapture,
  send: (body: RequestBody) => void,
  onChunk: () => void,
): void {
  const { headers } = request;
  const length = headers['content-length'];
  if (length === undefined && headers['transfer-encoding'] === undefined) return send(undefined);
  sent.setContentType(headers['content-type']);
  sent.coding = contentCodingOf(headers['content-encoding']);
  if (length === undefined || Number(length) > BUFFERED_MAX_BYTES) return send(captured(request, sent, onChunk));
  const chunks = new BodyChunks();
  request.on('data', (chunk: Buffer) => {
    sent.push(chunk);
    chunks.push(chunk);
  });
  request.on('end', () => send(chunks.joined()));
}

/** The body, pulled by the upstream so that a slow provider slows the client down. The client's connection stays open when the
 *  provider stops reading: its response is still to be sent on it. */
async function* captured(request: IncomingMessage, sent: BodyCapture, onChunk: () => void): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    sent.push(chunk);
    onChunk();
    yield chunk;
  }
}
