import { decodedString, encodedString, endOfString } from './json-text.ts';
import { mergedEdits, movedEdits, type TextEdit } from './text-edit.ts';

// What a model says comes in pieces, and an address or a number seldom in one. These members of the events hold the pieces.
const PIECE = /"(content|text|delta|arguments|partial_json|thinking|reasoning_content|reasoning|refusal)": ?"/g;
/** A choice, a block or a tool has this somewhere before its piece, */
const INDEX = 'index":';
/** not further away than this. */
const INDEX_WITHIN = 256;

/** A piece of what is said: where it is written, and what it says. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly said: string;
}

/** What is to be replaced in the text of an event stream: inside each event, and in what its pieces say together. Pieces belong
 *  together when they are the same member with the same index. A finding that goes over several pieces is replaced in the first;
 *  the others lose their part of it. `isClean` tells of the text as it is that it holds nothing. */
export function streamEdits(text: string, isClean: boolean, editsOf: (text: string) => TextEdit[]): TextEdit[] {
  const { pieces, speeches } = piecesOf(text);
  const edits: TextEdit[] = [];
  for (const speech of speeches) edits.push(...spreadEdits(editsOf(speech.map(({ said }) => said).join('')), speech));
  if (!isClean) {
    for (const { index, 0: line } of text.matchAll(/[^\r\n]+/g))
      edits.push(...movedEdits(editsOf(line), index).filter((edit) => !isWithin(edit, pieces)));
  }
  return mergedEdits(edits);
}

/** All pieces in their order, and those that belong together. */
function piecesOf(text: string): { pieces: Piece[]; speeches: Iterable<Piece[]> } {
  const pieces: Piece[] = [];
  const speeches = new Map<string, Piece[]>();
  const pattern = new RegExp(PIECE);
  let line = { start: 0, end: -1 };
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const start = pattern.lastIndex;
    if (start > line.end) line = lineAround(text, start);
    const end = endOfString(text, start, line.end);
    const written = text.slice(start, end);
    const piece = { start, end, said: decodedString(written) ?? written };
    pieces.push(piece);
    const key = `${match[1]}${indexBefore(text, match.index, line.start)}`;
    const speech = speeches.get(key);
    if (speech === undefined) speeches.set(key, [piece]);
    else speech.push(piece);
    pattern.lastIndex = end;
  }
  return { pieces, speeches: speeches.values() };
}

function lineAround(text: string, at: number): { start: number; end: number } {
  const end = text.indexOf('\n', at);
  return { start: text.lastIndexOf('\n', at) + 1, end: end < 0 ? text.length : end };
}

function indexBefore(text: string, before: number, lineStart: number): number {
  const near = text.slice(Math.max(lineStart, before - INDEX_WITHIN), before);
  const at = near.lastIndexOf(INDEX);
  return at < 0 ? -1 : Number.parseInt(near.slice(at + INDEX.length, at + INDEX.length + 8), 10);
}

/** Edits of what pieces say together, as edits of how each of them is written. */
function spreadEdits(edits: readonly TextEdit[], speech: readonly Piece[]): TextEdit[] {
  const spread: TextEdit[] = [];
  let next = 0;
  let from = 0;
  for (const { start, end, said } of speech) {
    const to = from + said.length;
    let text = '';
    const kinds: TextEdit['kinds'][number][] = [];
    let at = from;
    let isChanged = false;
    for (let edit = edits[next]; edit !== undefined && edit.start < to; edit = edits[next]) {
      isChanged = true;
      if (edit.start >= from) {
        text += said.slice(at - from, edit.start - from) + edit.text;
        kinds.push(...edit.kinds);
      }
      at = Math.min(edit.end, to);
      if (edit.end > to) break;
      next += 1;
    }
    if (isChanged) spread.push({ start, end, text: encodedString(text + said.slice(at - from)), kinds });
    from = to;
  }
  return spread;
}

/** Pieces are in their order and do not overlap. */
function isWithin({ start, end }: TextEdit, pieces: readonly Piece[]): boolean {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pieces[middle]?.start ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  return end <= (pieces[low - 1]?.end ?? -1);
}
