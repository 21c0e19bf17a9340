import type { BodyKind } from '../redaction.ts';
import { isSpace } from './json-text.ts';
import type { Span } from '../text-edit.ts';

/** How a body is divided into events: server-sent events, or JSON values in lines (NDJSON, JSON text sequences). */
export type Framing = 'sse' | 'lines';

/** Events as they begin when their content type says otherwise: some fields or comments, and one that is JSON. */
const EVENTS = /^\ufeff?(?:(?:data|event|id|retry)?:[^\r\n]*[\r\n]+){0,8}?data: ?[{[]/;

/** How a body is divided into events; undefined: it is a single value. By what it looks like rather than by its content type:
 *  NDJSON has many, and a provider may respond to a streaming request with an error in JSON. Cost: two searches for a line feed. */
export function framingOf(text: string, kind: BodyKind): Framing | undefined {
  if (kind === 'sse' && (!/^\s*[{[]/.test(text) || /[\r\n]data:/.test(text))) return 'sse';
  if (EVENTS.test(text)) return 'sse';
  return isInLines(text) ? 'lines' : undefined;
}

/** Whether the first line or the last one is a value of its own. In one JSON value no line that begins like one follows another that ends
 *  like one: a comma or a colon stands between. */
function isInLines(text: string): boolean {
  const first = text.indexOf('\n');
  // Without one it has one line; and a bracket alone begins JSON that is indented.
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

/** The lines of a text, without what ends them: LF, or for server-sent events also CR or both. */
export function* linesOf(text: string, hasCrLines = true): Generator<Span> {
  const lineEnd = hasCrLines && text.includes('\r') ? /\r\n?|\n/g : /\n/g;
  let start = 0;
  for (let match = lineEnd.exec(text); match !== null; match = lineEnd.exec(text)) {
    yield { start, end: match.index };
    start = lineEnd.lastIndex;
  }
  if (start < text.length) yield { start, end: text.length };
}

/** A secret that was cut in half may be up to this long and not be recognised. */
const HALF_SECRET_MAX = 1_024;
/** So is a number that is written in groups. */
const NUMBER_MAX = 24;

/** A text that was cut, without its last word and the groups of a number before it: half of a secret looks like none. */
export function dropIncompleteTail(text: string): string {
  let end = text.length;
  const least = Math.max(0, end - HALF_SECRET_MAX);
  while (end > least && isPartOfWord(text, end - 1)) end -= 1;
  // A longer run of such characters is data in base64; or a token: parts joined by dots, and the beginning of one.
  if (end === least) end = startOfToken(text, end);
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
