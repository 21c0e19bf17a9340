import type { BodyKind } from '../redaction.ts';
import { isSpace } from './json-text.ts';
import type { Span } from '../text-edit.ts';

/** How a body is divided into events: server-sent events, or JSON values in lines (NDJSON, JSON text sequences). */
export type Framing = 'sse' | 'lines';

/** The beginning of events with another content type: some fields or comments, and one JSON value. */
const EVENTS = /^\ufeff?(?:(?:data|event|id|retry)?:[^\r\n]*[\r\n]+){0,8}?data: ?[{[]/;

/** How a body is divided into events; undefined for a single value. Decided by its content rather than its content type, because NDJSON has many
 *  types, and a provider may respond to a streaming request with a JSON error. Cost: two searches for a line feed. */
export function framingOf(text: string, kind: BodyKind): Framing | undefined {
  if (kind === 'sse' && (!/^\s*[{[]/.test(text) || /[\r\n]data:/.test(text))) return 'sse';
  if (EVENTS.test(text)) return 'sse';
  return isInLines(text) ? 'lines' : undefined;
}

/** Whether the first or the last line is a separate value. Within one JSON value, a line that ends like a value is never followed by one that
 *  begins like a value, because there is a comma or a colon between them. */
function isInLines(text: string): boolean {
  const first = text.indexOf('\n');
  // Without a line feed there is one line. A single bracket begins indented JSON.
  if (first < 2) return false;
  let end = text.length;
  while (end > first && isBlank(text.charCodeAt(end - 1))) end -= 1;
  if (end <= first) return false;
  return isBetween(text, first) || isBetween(text, text.lastIndexOf('\n', end));
}

function isBetween(text: string, lineFeed: number): boolean {
  let before = lineFeed - 1;
  while (before > 0 && isBlank(text.charCodeAt(before))) before -= 1;
  if (!'}]"'.includes(text[before] ?? '-')) return false;
  let after = lineFeed + 1;
  while (after < text.length && isBlank(text.charCodeAt(after))) after += 1;
  return '{["'.includes(text[after] ?? '-');
}

/** White space, and the separator of JSON text sequences. */
function isBlank(code: number): boolean {
  return isSpace(code) || code === 0x1e || code === 0xfeff;
}

/** The lines of a text without their line ends: LF, or for server-sent events also CR or CRLF. */
export function* linesOf(text: string, hasCrLines = true): Generator<Span> {
  const lineEnd = hasCrLines && text.includes('\r') ? /\r\n?|\n/g : /\n/g;
  let start = 0;
  for (let match = lineEnd.exec(text); match !== null; match = lineEnd.exec(text)) {
    yield { start, end: match.index };
    start = lineEnd.lastIndex;
  }
  if (start < text.length) yield { start, end: text.length };
}

/** Maximum length of a cut secret that would not be recognised. */
const HALF_SECRET_MAX = 1_024;
/** The same for a number written in groups. */
const NUMBER_MAX = 24;

/** The user and password of a URL, in which commas and brackets separate no words. */
const HALF_URL = /:\\{0,15}\/\\{0,15}\/[^\s/"]*$/;

/** A cut text without its last word and the number groups or half URL before it, because half of a secret is not recognised. */
export function dropIncompleteTail(text: string): string {
  let end = text.length;
  const least = Math.max(0, end - HALF_SECRET_MAX);
  while (end > least && isPartOfWord(text, end - 1)) end -= 1;
  // A longer run of such characters is base64 data or a token: parts joined by dots, or the beginning of one.
  if (end === least) end = startOfToken(text, end);
  const url = HALF_URL.exec(text.slice(Math.max(0, end - HALF_SECRET_MAX), end))?.[0] ?? '';
  end -= url.length;
  const number = /(?<![-+. ()\d])[-+. ()\d]*$/.exec(text.slice(Math.max(0, end - NUMBER_MAX), end))?.[0] ?? '';
  return text.slice(0, /\d/.test(number) ? end - number.length : end);
}

function startOfToken(text: string, end: number): number {
  let start = end;
  while (start > 0 && /[\w.-]/.test(text[start - 1] ?? '')) start -= 1;
  return text.startsWith('eyJ', start) ? start : end;
}

function isPartOfWord(text: string, at: number): boolean {
  return !/[\s"',;<>(){}[\]]/.test(text[at] ?? '');
}
