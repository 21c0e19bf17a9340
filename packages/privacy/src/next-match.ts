/** Finds the first match of a pattern at or after a position. Positions must ascend: then all searches of a text take one pass together. */
export class NextMatch {
  readonly #pattern: RegExp;
  readonly #text: string;
  #at = -1;

  /** `pattern` is global. */
  constructor(pattern: RegExp, text: string) {
    this.#pattern = pattern;
    this.#text = text;
  }

  /** `Infinity` when there is none. */
  from(position: number): number {
    if (this.#at < position) {
      this.#pattern.lastIndex = position;
      this.#at = this.#pattern.exec(this.#text)?.index ?? Infinity;
    }
    return this.#at;
  }
}
