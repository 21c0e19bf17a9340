import type { IncomingMessage } from 'node:http';

/** A refused body up to this length is read to its end and the connection kept: a client that is cut while it sends never sees why, and
 *  the SDKs try again then. Requests with pictures and files in them are some ten megabytes long. */
const READ_OUT_MAX_BYTES = 32 * 1_048_576;

/** The header, as name and value, that closes the connection behind an answer to a request which will not be read to its end; none for
 *  one that was, or will be. */
export function closingHeader(request: IncomingMessage): readonly string[] {
  return request.complete || isShort(request) ? [] : ['Connection', 'close'];
}

function isShort({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= READ_OUT_MAX_BYTES;
}
