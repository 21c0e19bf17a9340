import { decodedString, encodedString, endOfString } from './json-text.ts';
import { append, mergedEdits, movedEdits, type TextEdit } from './text-edit.ts';

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
  const edits: TextEdit[] = [];
  for (const speech of speechesOf(text)) append(edits, spreadEdits(editsOf(speech.map(({ said }) => said).join('')), speech));
  if (!isClean) {
    for (const { index, 0: line } of text.matchAll(/[^\r\n]+/g)) append(edits, movedEdits(editsOf(line), index));
  }
  return mergedEdits(edits);
}

/** Pieces that belong together, in their order. Events of a stream differ in little but their piece: one that is
 *  written like the last one is not searched again. */
function speechesOf(text: string): Iterable<Piece[]> {
  const speeches = new Map<string, Piece[]>();
  let last: { before: string; after: string; speech: Piece[] } | undefined;
  for (let lineStart = 0; lineStart < text.length;) {
    const lineFeed = text.indexOf('\n', lineStart);
    const lineEnd = lineFeed < 0 ? text.length : lineFeed;
    if (last !== undefined && isAt(text, lineStart, last.before)) {
      const piece = pieceAt(text, lineStart + last.before.length, lineEnd);
      if (lineEnd - piece.end === last.after.length && isAt(text, piece.end, last.after)) {
        last.speech.push(piece);
        lineStart = lineEnd + 1;
        continue;
      }
    }
    const found = text[lineStart] === 'd' ? searchLine(text, lineStart, lineEnd, speeches) : [];
    const [only] = found;
    if (only !== undefined && found.length === 1) {
      const { piece, speech } = only;
      last = { before: text.slice(lineStart, piece.start), after: text.slice(piece.end, lineEnd), speech };
    }
    lineStart = lineEnd + 1;
  }
  return speeches.values();
}

/** `startsWith` takes twice as long. */
function isAt(text: string, at: number, part: string): boolean {
  return text.slice(at, at + part.length) === part;
}

function searchLine(text: string, lineStart: number, lineEnd: number, speeches: Map<string, Piece[]>) {
  const found: { piece: Piece; speech: Piece[] }[] = [];
  const line = text.slice(lineStart, lineEnd);
  const pattern = new RegExp(PIECE);
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) {
    const piece = pieceAt(text, lineStart + pattern.lastIndex, lineEnd);
    const key = `${match[1]}${indexBefore(line, match.index)}`;
    const speech = speeches.get(key) ?? [];
    speeches.set(key, speech);
    speech.push(piece);
    found.push({ piece, speech });
    pattern.lastIndex = piece.end - lineStart;
  }
  return found;
}

function pieceAt(text: string, start: number, lineEnd: number): Piece {
  const end = endOfString(text, start, lineEnd);
  const written = text.slice(start, end);
  return { start, end, said: decodedString(written) ?? written };
}

function indexBefore(line: string, before: number): number {
  const near = line.slice(Math.max(0, before - INDEX_WITHIN), before);
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
        append(kinds, edit.kinds);
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
