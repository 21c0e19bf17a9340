import { decodedString } from './json-text.ts';

/** A text that comes in pieces over the events of a stream: what a model says in one choice, block, tool call or item. */
export class StreamText {
  /** Whether its events say that they carry pieces; else they may as well carry whole texts. */
  readonly isDelta: boolean;
  /** Where the pieces are written, between their quotes: start and end in turns. */
  readonly spans: number[] = [];
  /** What they say together. */
  joined = '';
  #first = '';
  #isConstant = true;

  constructor(isDelta: boolean) {
    this.isDelta = isDelta;
  }

  /** `isPlain`: it is known to have no escapes. */
  add(stream: string, start: number, end: number, isPlain = false): void {
    const piece = isPlain ? stream.slice(start, end) : pieceAt(stream, start, end);
    if (this.spans.length === 0) this.#first = piece;
    else if (this.#isConstant) this.#isConstant = piece === this.#first;
    this.spans.push(start, end);
    this.joined += piece;
  }

  /** Whether it has pieces to be read together. A value that all events repeat is none of them. */
  get isInPieces(): boolean {
    return !this.#isConstant;
  }

  /** Whether what was read may be its beginning only, when the stream was cut. */
  get isOpenEnded(): boolean {
    return this.isInPieces || (this.isDelta && this.spans.length === 2);
  }

  /** The pieces, and where each of them is written. */
  *piecesIn(stream: string): Generator<{ readonly start: number; readonly end: number; readonly piece: string }> {
    for (let at = 0; at + 1 < this.spans.length; at += 2) {
      const start = this.spans[at]!;
      const end = this.spans[at + 1]!;
      yield { start, end, piece: pieceAt(stream, start, end) };
    }
  }
}

function pieceAt(stream: string, start: number, end: number): string {
  const written = stream.slice(start, end);
  return decodedString(written) ?? written;
}
