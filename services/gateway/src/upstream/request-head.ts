import { upstreamError } from './upstream-error.ts';

/** A request to a provider. */
export interface UpstreamRequest {
  readonly method: string;
  /** The target as it is to stand on the wire. */
  readonly path: string;
  /** Names and values in turn, without those of the connection. */
  readonly headers: readonly string[];
  /** Undefined: none. A streamed body has the length of a `Content-Length` among the headers, or is chunked. */
  readonly body: Buffer | AsyncIterable<Buffer> | undefined;
}

/** A request's head as it leaves, and how its body is to follow. */
export interface Framing {
  readonly head: string;
  /** Bytes that the body must have; undefined: it is sent chunked, or there is none. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
}

/** Methods for which a server may expect a body, so that its absence has to be declared with `Content-Length: 0`. */
const EXPECTS_BODY = new Set(['POST', 'PUT', 'PATCH']);
const LINE_BREAK = /[\r\n\0]/;

/** Writes the head of a request, as latin-1, Host first. `Content-Length` is that of the body, whatever the headers say. Throws
 *  `request_failed` for what would make more than one message of it. */
export function writeRequestHead({ method, path, headers, body }: UpstreamRequest, host: string): Framing {
  let head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n`;
  let declared: string | undefined;
  const isBuffer = Buffer.isBuffer(body);
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    if (name.length === 14 && name.toLowerCase() === 'content-length') declared = value;
    else head += `${name}: ${value}\r\n`;
  }
  const length = isBuffer ? body.length : body === undefined ? noBodyLength(method, declared) : lengthOf(declared);
  const isChunked = length === undefined && body !== undefined;
  if (length !== undefined) head += `Content-Length: ${length}\r\n`;
  if (isChunked) head += 'Transfer-Encoding: chunked\r\n';
  refuseBreaks(path, headers);
  return { head: `${head}\r\n`, length, isChunked };
}

function noBodyLength(method: string, declared: string | undefined): number | undefined {
  return declared !== undefined || EXPECTS_BODY.has(method) ? 0 : undefined;
}

function lengthOf(declared: string | undefined): number | undefined {
  if (declared === undefined) return undefined;
  if (!/^\d{1,15}$/.test(declared)) throw upstreamError('request_failed', 'Content-Length is not a number');
  return Number(declared);
}

/** What came through Node's parser has none; what was redacted on the way might. */
function refuseBreaks(path: string, headers: readonly string[]): void {
  if (LINE_BREAK.test(path) || LINE_BREAK.test(headers.join(' ')))
    throw upstreamError('request_failed', 'the head holds a line break');
}
