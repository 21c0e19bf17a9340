import { checkHead } from './head-syntax.ts';
import { malformed } from './upstream-error.ts';

/** How the length of a response's body is known. */
type BodyLength =
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** It ends with the connection. */
  | { readonly kind: 'open' };

/** The head of a response, checked. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Alternating names and values as received. */
  readonly headers: readonly string[];
  /** Values of the headers that the proxy uses; several are joined by a comma. */
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentLength: number | undefined;
  readonly connection: string | undefined;
  readonly keepAlive: string | undefined;
  readonly body: BodyLength;
  /** Whether another request may follow on the connection. */
  readonly isPersistent: boolean;
}

const STATUS_AT = 'HTTP/1.1 '.length;
const REASON_AT = 'HTTP/1.1 200 '.length;
const MAX_HEADERS = 512;

type InspectedHeader = 'content-type' | 'content-encoding' | 'content-length' | 'transfer-encoding' | 'connection' | 'keep-alive';
/** By length, so that other names cost only one comparison. */
const INSPECTED: ReadonlyMap<number, readonly InspectedHeader[]> = Map.groupBy<number, InspectedHeader>(
  ['content-type', 'content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  (name) => name.length,
);

/** Parses a response's head: everything before the empty line, as latin-1. Strict where a lenient parser could see another message: line
 *  ends, names, folded lines, two lengths, codings other than just `chunked`. Throws `malformed_response`.
 *  Source: RFC 9112, sections 4 to 6. */
export function readResponseHead(text: string, isHead: boolean): ResponseHead {
  checkHead(text);
  const end = lineEnd(text, 0);
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
  const headers: string[] = [];
  const inspected: Partial<Record<InspectedHeader, string>> = {};
  for (let start = end + 2; start < text.length;) {
    const stop = lineEnd(text, start);
    readField(text, start, stop, headers, inspected);
    start = stop + 2;
  }
  if (headers.length > 2 * MAX_HEADERS) throw malformed(`more than ${MAX_HEADERS} headers`);
  const contentLength = lengthOf(inspected['content-length']);
  const { connection } = inspected;
  return {
    status,
    reason: text.slice(REASON_AT, end),
    headers,
    contentType: inspected['content-type'],
    contentEncoding: inspected['content-encoding'],
    contentLength,
    connection,
    keepAlive: inspected['keep-alive'],
    body: bodyLength(status, isHead, contentLength, inspected['transfer-encoding']),
    isPersistent: text.startsWith('HTTP/1.1') && connection?.toLowerCase().includes('close') !== true,
  };
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end === -1 ? text.length : end;
}

function readField(
  text: string,
  start: number,
  stop: number,
  headers: string[],
  inspected: Partial<Record<InspectedHeader, string>>,
): void {
  const colon = text.indexOf(':', start);
  const name = text.slice(start, colon);
  const value = valueIn(text, colon + 1, stop);
  headers.push(name, value);
  const candidates = INSPECTED.get(name.length);
  if (candidates === undefined) return;
  const lower = name.toLowerCase();
  const found = candidates.find((candidate) => candidate === lower);
  if (found === undefined) return;
  const before = inspected[found];
  inspected[found] = before === undefined ? value : `${before}, ${value}`;
}

/** Trims spaces and tabs. `trim` would also remove a no-break space, which is the last byte of a letter in UTF-8 (\u00e0). */
export function valueIn(text: string, start: number, stop: number): string {
  let from = start;
  let to = stop;
  while (from < to && isSpace(text.charCodeAt(from))) from += 1;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Two equal lengths are refused too: they may hide two messages. */
function lengthOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const length = /^\d{1,15}$/.test(value) ? Number(value) : -1;
  if (length < 0) throw malformed('Content-Length is not one number');
  return length;
}

function bodyLength(status: number, isHead: boolean, length: number | undefined, coding: string | undefined): BodyLength {
  if (coding !== undefined) {
    if (length !== undefined) throw malformed('both Content-Length and Transfer-Encoding');
    if (coding.toLowerCase() !== 'chunked') throw malformed('Transfer-Encoding is not chunked alone');
  }
  if (isHead || status < 200 || status === 204 || status === 304) return { kind: 'bytes', bytes: 0 };
  if (coding !== undefined) return { kind: 'chunked' };
  return length === undefined ? { kind: 'open' } : { kind: 'bytes', bytes: length };
}
