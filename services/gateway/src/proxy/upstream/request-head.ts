import { upstreamError } from './upstream-error.ts';

/** A request to a provider. */
export interface UpstreamRequest {
  readonly method: string;
  /** The request target as sent. */
  readonly path: string;
  /** Alternating names and values, without hop-by-hop headers. */
  readonly headers: readonly string[];
  /** Undefined without a body. A streamed body has the length given by `Content-Length`, or is chunked. */
  readonly body: Buffer | AsyncIterable<Buffer> | undefined;
  /** The trailers of a chunked body that has ended, as alternating names and values. */
  readonly trailers?: () => readonly string[];
  /** Whether trailers of the response reach its recipient (RFC 9110, section 6.5.1). */
  readonly acceptsTrailers?: boolean;
}

/** A request's serialized head, and how its body follows. */
export interface Framing {
  readonly head: string;
  /** The required length of the body in bytes; undefined when it is sent chunked or there is none. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  readonly trailers: UpstreamRequest['trailers'];
}

/** Methods for which a server may expect a body, so that its absence has to be declared with `Content-Length: 0`. */
const EXPECTS_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Writes the head of a request, as latin-1, Host first. `Content-Length` is that of the body, regardless of the headers. Throws `request_failed`
 *  if the head would become more than one message. */
export function writeRequestHead(
  { method, path, headers, body, trailers, acceptsTrailers = false }: UpstreamRequest,
  host: string,
): Framing {
  let head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive${acceptsTrailers ? ', TE\r\nTE: trailers' : ''}\r\n`;
  let lines = acceptsTrailers ? 4 : 3;
  let declared: string | undefined;
  const isBuffer = Buffer.isBuffer(body);
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    if (name.length === 14 && name.toLowerCase() === 'content-length') {
      declared = value;
      continue;
    }
    head += `${name}: ${value}\r\n`;
    lines += 1;
  }
  const length = isBuffer ? body.length : body === undefined ? noBodyLength(method, declared) : lengthOf(declared);
  const isChunked = length === undefined && body !== undefined;
  const framing = length !== undefined ? `Content-Length: ${length}\r\n` : isChunked ? 'Transfer-Encoding: chunked\r\n' : '';
  head += `${framing}\r\n`;
  refuseBreaks(head, lines + (framing === '' ? 1 : 2));
  return { head, length, isChunked, trailers };
}

function noBodyLength(method: string, declared: string | undefined): number | undefined {
  return declared !== undefined || EXPECTS_BODY.has(method) ? 0 : undefined;
}

function lengthOf(declared: string | undefined): number | undefined {
  if (declared === undefined) return undefined;
  if (!/^\d{1,15}$/.test(declared)) throw upstreamError('request_failed', 'Content-Length is not a number');
  return Number(declared);
}

/** Input from Node's parser contains no line breaks, but redacted text might. Counting them in the joined text is faster than checking each part. */
function refuseBreaks(head: string, lines: number): void {
  if (countOf('\n', head) !== lines || countOf('\r', head) !== lines || head.includes('\0'))
    throw upstreamError('request_failed', 'the head contains a line break');
}

function countOf(character: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count += 1;
  return count;
}
