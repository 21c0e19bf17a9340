import { decodedString } from './json-text.ts';

/** A text that comes in fragments over the events of a stream: what a model says in one choice, block, tool call or item. */
export class StreamText {
  /** Whether its events say that they carry fragments; else they may as well carry whole texts. */
  readonly isDelta: boolean;
  /** Positions of the fragments between their quotes: start and end in turns. */
  readonly spans: number[] = [];
  /** The decoded fragments, joined. */
  joined = '';
  #first = '';
  #isConstant = true;

  constructor(isDelta: boolean) {
    this.isDelta = isDelta;
  }

  /** `isPlain`: it is known to have no escapes. */
  add(stream: string, start: number, end: number, isPlain = false): void {
    const fragment = isPlain ? stream.slice(start, end) : fragmentAt(stream, start, end);
    if (this.spans.length === 0) this.#first = fragment;
    else if (this.#isConstant) this.#isConstant = fragment === this.#first;
    this.spans.push(start, end);
    this.joined += fragment;
  }

  /** Whether it has fragments to be read together. A value that all events repeat does not count as one. */
  get isFragmented(): boolean {
    return !this.#isConstant;
  }

  /** Whether a cut stream may hold only its beginning. */
  get isOpenEnded(): boolean {
    return this.isFragmented || (this.isDelta && this.spans.length === 2);
  }

  /** The decoded fragments and their positions. */
  *fragmentsIn(stream: string): Generator<{ readonly start: number; readonly end: number; readonly fragment: string }> {
    for (let at = 0; at + 1 < this.spans.length; at += 2) {
      const start = this.spans[at]!;
      const end = this.spans[at + 1]!;
      yield { start, end, fragment: fragmentAt(stream, start, end) };
    }
  }
}

function fragmentAt(stream: string, start: number, end: number): string {
  const written = stream.slice(start, end);
  return decodedString(written) ?? written;
}
