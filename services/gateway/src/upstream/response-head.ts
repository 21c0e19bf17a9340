import { malformed } from './upstream-error.ts';

/** How long the body of an answer is. */
export type BodyLength =
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** It ends with the connection. */
  | { readonly kind: 'open' };

/** The head of an answer, checked. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  /** Values of what the proxy looks at; several are joined by a comma. */
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentLength: number | undefined;
  readonly connection: string | undefined;
  readonly keepAlive: string | undefined;
  readonly body: BodyLength;
  /** Whether another request may follow on the connection. */
  readonly isPersistent: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: (.*))?$/;
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Also a line feed without its carriage return, and the other way round: others might see more lines, or fewer.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
const MAX_HEADERS = 512;
/** Header names as they come are few; what is known to be one is remembered, up to this many. */
const REMEMBERED_NAMES = 2_048;
const knownNames = new Set<string>();

type Looked = 'content-type' | 'content-encoding' | 'content-length' | 'transfer-encoding' | 'connection' | 'keep-alive';
/** By length, so that other names cost no more than a look at theirs. */
const LOOKED_AT: ReadonlyMap<number, readonly Looked[]> = Map.groupBy<number, Looked>(
  ['content-type', 'content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  (name) => name.length,
);

/** Reads an answer's head: everything before the empty line, as latin-1. Strict where a reader who is not would see another message:
 *  line ends, names, folded lines, two lengths, codings that are not `chunked` alone. Throws `malformed_response`.
 *  Source: RFC 9112, sections 4 to 6. */
export function readResponseHead(text: string, isHead: boolean): ResponseHead {
  if (FORBIDDEN.test(text)) throw malformed('the head holds a control character');
  const end = lineEnd(text, 0);
  const [, minor, status, reason = ''] = STATUS_LINE.exec(text.slice(0, end)) ?? [];
  if (status === undefined) throw malformed('no status line');
  const headers: string[] = [];
  const looked: Partial<Record<Looked, string>> = {};
  for (let start = end + 2; start < text.length;) {
    const stop = lineEnd(text, start);
    readField(text, start, stop, headers, looked);
    start = stop + 2;
  }
  if (headers.length > 2 * MAX_HEADERS) throw malformed('too many headers');
  const contentLength = lengthOf(looked['content-length']);
  const { connection } = looked;
  return {
    status: Number(status),
    reason,
    headers,
    contentType: looked['content-type'],
    contentEncoding: looked['content-encoding'],
    contentLength,
    connection,
    keepAlive: looked['keep-alive'],
    body: bodyLength(Number(status), isHead, contentLength, looked['transfer-encoding']),
    isPersistent: minor === '1' && connection?.toLowerCase().includes('close') !== true,
  };
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end === -1 ? text.length : end;
}

function readField(text: string, start: number, stop: number, headers: string[], looked: Partial<Record<Looked, string>>): void {
  const colon = text.indexOf(':', start);
  if (colon < 0 || colon >= stop) throw malformed('a header without a colon');
  const name = text.slice(start, colon);
  if (!isFieldName(name)) throw malformed('a header name that is none');
  const value = text.slice(colon + 1, stop).trim();
  headers.push(name, value);
  const candidates = LOOKED_AT.get(name.length);
  if (candidates === undefined) return;
  const lower = name.toLowerCase();
  const found = candidates.find((candidate) => candidate === lower);
  if (found === undefined) return;
  const before = looked[found];
  looked[found] = before === undefined ? value : `${before}, ${value}`;
}

function isFieldName(name: string): boolean {
  if (knownNames.has(name)) return true;
  if (!FIELD_NAME.test(name)) return false;
  if (knownNames.size < REMEMBERED_NAMES) knownNames.add(name);
  return true;
}

/** Two equal lengths are refused too: who sends them is confused enough. */
function lengthOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const length = /^\d{1,15}$/.test(value) ? Number(value) : -1;
  if (length < 0) throw malformed('a content length that is no number');
  return length;
}

function bodyLength(status: number, isHead: boolean, length: number | undefined, coding: string | undefined): BodyLength {
  if (coding !== undefined) {
    if (length !== undefined) throw malformed('both a content length and a transfer coding');
    if (coding.toLowerCase() !== 'chunked') throw malformed('a transfer coding that is not chunked');
  }
  if (isHead || status < 200 || status === 204 || status === 304) return { kind: 'bytes', bytes: 0 };
  if (coding !== undefined) return { kind: 'chunked' };
  return length === undefined ? { kind: 'open' } : { kind: 'bytes', bytes: length };
}
