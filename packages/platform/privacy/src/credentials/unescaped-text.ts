import { countBefore, mergedSpans, type Span } from '../text-edit.ts';

/** Nested escapes are decoded to this depth. */
const LEVELS_MAX = 4;

/** A text with decoded escapes, and the positions of its characters in the original. */
interface UnescapedText {
  readonly text: string;
  /** The index in the original text. For an index after an escape, the one after the whole escape. */
  readonly originalAt: (index: number) => number;
}

// Bytes in percent-encoding, and ASCII in JSON escapes, whose backslash is itself escaped in nested JSON.
const ESCAPE = /(?:%|\\{1,15}u00)([0-9A-Fa-f]{2})/g;

/** Decodes one level of percent-encoding and of JSON's `\u00XX`; undefined when there is none. Bytes beyond ASCII become single latin-1
 *  characters, which suffices to exclude ASCII letters. */
function unescapedText(text: string): UnescapedText | undefined {
  if (!text.includes('%') && !text.includes('\\u00')) return undefined;
  /** Positions of decoded characters in the new text, and by how much it is shorter after each. */
  const positions: number[] = [];
  const shortened = [0];
  let removed = 0;
  let unescaped = '';
  let copied = 0;
  ESCAPE.lastIndex = 0;
  for (let escape = ESCAPE.exec(text); escape !== null; escape = ESCAPE.exec(text)) {
    positions.push(escape.index - removed);
    removed += escape[0].length - 1;
    shortened.push(removed);
    unescaped += text.slice(copied, escape.index) + String.fromCharCode(Number.parseInt(escape[1] ?? '', 16));
    copied = escape.index + escape[0].length;
  }
  if (copied === 0) return undefined;
  unescaped += text.slice(copied);
  return {
    text: unescaped,
    originalAt: (index) => index + (shortened[countBefore(positions.length, (at) => (positions[at] ?? 0) < index)] ?? 0),
  };
}

const unmoved = (index: number) => index;

/** The findings of `find` in a text as written and with escapes decoded, level by level, as spans of the original. */
export function findUnescaped(text: string, find: (text: string) => Span[]): Span[] {
  const found = find(text);
  let originalAt = unmoved;
  let level = unescapedText(text);
  for (let depth = 0; level !== undefined && depth < LEVELS_MAX; depth += 1) {
    const [outer, inner] = [originalAt, level.originalAt];
    originalAt = (index) => outer(inner(index));
    for (const { start, end } of find(level.text)) found.push({ start: originalAt(start), end: originalAt(end) });
    level = unescapedText(level.text);
  }
  return found.length < 2 ? found : mergedSpans(found);
}
