import { decodedString, endOfString, endOfValue, isSpace } from './json-text.ts';

/** Goes through a part of a JSON text value by value. Whatever is not there as expected ends it with false or undefined. */
export class JsonCursor {
  readonly #text: string;
  readonly #end: number;
  at: number;

  constructor(text: string, start: number, end: number) {
    this.#text = text;
    this.at = start;
    this.#end = end;
  }

  /** The next character that is no white space; undefined at the end. */
  peek(): string | undefined {
    while (this.at < this.#end && isSpace(this.#text.charCodeAt(this.at))) this.at += 1;
    return this.at < this.#end ? this.#text[this.at] : undefined;
  }

  passes(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  /** The decoded value of a string. */
  string(): string | undefined {
    if (this.peek() !== '"') return undefined;
    const start = this.at + 1;
    const end = endOfString(this.#text, start, this.#end);
    this.at = end + 1;
    return end < this.#end ? decodedString(this.#text.slice(start, end)) : undefined;
  }

  /** A value as it is written. */
  value(): string {
    this.peek();
    const start = this.at;
    this.at = Math.min(endOfValue(this.#text, start), this.#end);
    return this.#text.slice(start, this.at);
  }

  members(readValue: (name: string) => boolean): boolean {
    if (!this.passes('{')) return false;
    while (this.peek() !== '}') {
      const name = this.string();
      if (name === undefined || !this.passes(':') || !readValue(name)) return false;
      if (!this.passes(',')) break;
    }
    return this.passes('}');
  }

  elements(readValue: () => boolean): boolean {
    if (!this.passes('[')) return false;
    while (this.peek() !== ']') {
      if (!readValue()) return false;
      if (!this.passes(',')) break;
    }
    return this.passes(']');
  }
}
