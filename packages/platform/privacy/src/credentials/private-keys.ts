import type { Span } from '../text-edit.ts';

const MARKER = /-----(BEGIN|END) [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----/g;
/** Longer than the blocks of the longest keys. */
const BLOCK_MAX = 65_536;

// In JSON a line end is written with backslashes, in nested JSON with more of them, and a slash may be.
const LINE_END = String.raw`(?:[\r\n]|\\{1,15}[nr])`;
const BREAK = String.raw`(?:\s|\\{1,15}[nrt])`;
const BASE64 = String.raw`(?:[A-Za-z0-9+/=]|\\{1,15}/)`;
// A block has a long line, or only lines of base64. Prose and code that join two markers have neither.
const LONG_LINE = /[A-Za-z0-9+/=]{20}/;
const SHORT_LINES = new RegExp(String.raw`^[ \t]*${LINE_END}(?:${BREAK}|${BASE64})+${LINE_END}[ \t]*$`);
const END_OF_STRING = /(?<!\\)(?:\\\\)*"/;
/** Without an end: the headers of an encrypted key, and long lines, of which the last may be short. */
const OPEN_BLOCK = new RegExp(
  String.raw`^(?:${LINE_END}{1,2}[A-Za-z][A-Za-z-]{2,23}: ?[^\r\n\\"]{0,80}){0,4}` +
    `${BREAK}{0,24}${BASE64}{20,}(?:${BREAK}{1,24}${BASE64}{20,})*(?:${BREAK}{1,24}${BASE64}{1,19})?`,
);

/** Private keys in PEM, from the first marker to the last. Of a block without an end, the lines of base64. No span includes a brace, or in JSON the
 *  end of a string. Spec: G13.10. */
export function findPrivateKeys(text: string, isJson: boolean): Span[] {
  const found: Span[] = [];
  let begin: Span | undefined;
  const add = (end: number) => {
    if (begin !== undefined && end > begin.end) found.push({ start: begin.start, end });
  };
  for (const { index, 0: marker, 1: kind } of text.matchAll(MARKER)) {
    const end = index + marker.length;
    if (begin !== undefined)
      add(kind === 'END' && isBlock(text, begin.end, index, isJson) ? end : endOfOpenBlock(text, begin.end));
    begin = kind === 'BEGIN' ? { start: index, end } : undefined;
  }
  if (begin !== undefined) add(endOfOpenBlock(text, begin.end));
  return found;
}

function isBlock(text: string, from: number, to: number, isJson: boolean): boolean {
  if (to - from > BLOCK_MAX) return false;
  const inner = text.slice(from, to);
  if (/[{}]/.test(inner) || (isJson && END_OF_STRING.test(inner))) return false;
  return LONG_LINE.test(inner) || SHORT_LINES.test(inner);
}

function endOfOpenBlock(text: string, from: number): number {
  return from + (OPEN_BLOCK.exec(text.slice(from, from + BLOCK_MAX))?.[0].length ?? 0);
}
