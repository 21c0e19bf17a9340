const LF = 0x0a;
const CR = 0x0d;

/** The line ends of a text: LF, and for server-sent events CR as well; in lines of JSON that is white space. When
 *  positions ascend, all lines together take one pass. */
export class LineEnds {
  readonly #text: string;
  #lf = -1;
  #cr: number;

  constructor(text: string, hasCrLines: boolean) {
    this.#text = text;
    this.#cr = hasCrLines ? -1 : text.length;
  }

  /** The end of the line that `at` is in, without what ends it. */
  endFrom(at: number): number {
    if (this.#lf < at) this.#lf = this.#find('\n', at);
    if (this.#cr < at) this.#cr = this.#find('\r', at);
    return this.#lf < this.#cr ? this.#lf : this.#cr;
  }

  /** To look ahead with. */
  fork(): LineEnds {
    const fork = new LineEnds(this.#text, true);
    fork.#lf = this.#lf;
    fork.#cr = this.#cr;
    return fork;
  }

  #find(character: string, at: number): number {
    const found = this.#text.indexOf(character, at);
    return found < 0 ? this.#text.length : found;
  }
}

/** The start of the line after the one that ends at `end`. */
export function nextLine(text: string, end: number): number {
  return text.charCodeAt(end) === CR && text.charCodeAt(end + 1) === LF ? end + 2 : end + 1;
}

export function isLineEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === LF || code === CR || at === text.length;
}
