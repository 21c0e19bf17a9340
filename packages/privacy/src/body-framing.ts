import type { BodyKind } from './body-kind.ts';
import type { Framing } from './event-stream.ts';
import { isSpace } from './json-text.ts';

/** Events as they begin when their content type says otherwise: some fields or comments, and one that is JSON. */
const EVENTS = /^\ufeff?(?:(?:data|event|id|retry)?:[^\r\n]*[\r\n]+){0,8}?data: ?[{[]/;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** How a body is divided into events; undefined: it is a single value. By what it looks like rather than by its content type:
 *  NDJSON has many, and a provider may respond to a streaming request with an error in JSON. Cost: two searches for a line feed. */
export function framingOf(text: string, kind: BodyKind): Framing | undefined {
  // A text that begins so is JSON, as almost every body is.
  const isObject = text.charCodeAt(0) === OPEN_BRACE;
  if (kind === 'sse' && (!(isObject || /^\s*[{[]/.test(text)) || /[\r\n]data:/.test(text))) return 'sse';
  if (!isObject && EVENTS.test(text)) return 'sse';
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
  const last = text.charCodeAt(before);
  if (last !== CLOSE_BRACE && last !== CLOSE_BRACKET && last !== QUOTE) return false;
  let after = lineFeed + 1;
  while (after < text.length && isBlank(text.charCodeAt(after))) after += 1;
  const first = text.charCodeAt(after);
  return first === OPEN_BRACE || first === OPEN_BRACKET || first === QUOTE;
}

/** White space, and the separator of JSON text sequences. */
function isBlank(code: number): boolean {
  return isSpace(code) || code === 0x1e || code === 0xfeff;
}
