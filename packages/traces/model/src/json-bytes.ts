import { EXACT_BELOW_USD, PICO_PER_USD, roundedPico, usdText } from './usd.ts';

const FIRST_SIZE = 65_536;
/** What a piece may write behind its end. */
const SLACK = 8;
const WORD = 4;
const BITS = 8;
const DIGIT_0 = 0x30;
const POINT = 0x2e;
/** `JSON.stringify` writes what is below a millionth with an exponent. */
const EXPONENT_BELOW_PICO = 1e6;
const E4 = 10_000;
const E8 = 100_000_000;

/** The digits of 0000 to 9999, each in a word whose first digit is its lowest byte. */
const FOUR_DIGITS = Int32Array.from({ length: E4 }, (_, number) => Buffer.from(String(number).padStart(WORD, '0')).readInt32LE());

/** A text that is written often, in UTF-8. */
export class JsonPiece {
  /** Its bytes in words, the lowest byte first; those behind its end are 0. */
  readonly words: Int32Array;
  /** Bytes. */
  readonly length: number;

  constructor(json: string) {
    this.length = Buffer.byteLength(json);
    const bytes = Buffer.alloc(Math.ceil(this.length / WORD) * WORD);
    bytes.write(json);
    this.words = new Int32Array(bytes.length / WORD);
    for (let at = 0; at < this.words.length; at += 1) this.words[at] = bytes.readInt32LE(at * WORD);
  }
}

/** JSON in UTF-8, written four bytes at a time: 30,000 items of a series have 4 MB, nearly all of them names and times that repeat. Every number is,
 *  byte for byte, what `JSON.stringify` makes of it. */
export class JsonBytes {
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #view = viewOf(this.#bytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Bytes of memory that it has. */
  get size(): number {
    return this.#bytes.length;
  }

  /** What was written, without a copy. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Begins again, in the same memory. */
  clear(): void {
    this.#length = 0;
  }

  piece({ words, length }: JsonPiece): this {
    const start = this.#room(length);
    const view = this.#view;
    // Without `set`: its call takes longer than the eighty bytes that the longest usually have.
    for (let at = 0; at < words.length; at += 1) view.setInt32(start + at * WORD, words[at] ?? 0, true);
    this.#length = start + length;
    return this;
  }

  number(value: number): this {
    if (value >= 0 && Number.isSafeInteger(value)) this.#whole(value);
    else this.#text(JSON.stringify(value));
    return this;
  }

  /** As `usdJson` prints it. */
  usd(thousands: number, pico: number): this {
    if (thousands === 0) this.#pico(pico);
    else this.#text(usdText(thousands, pico));
    return this;
  }

  /** As `roundUsd` prints it. */
  roundedUsd(usd: number): this {
    if (usd >= 0 && usd < EXACT_BELOW_USD) this.#pico(roundedPico(usd));
    else this.#text(JSON.stringify(usd));
    return this;
  }

  /** The decimals of trillionths are the digits that the double next to them is printed with: each has its own below `EXACT_BELOW_USD`. */
  #pico(pico: number): void {
    const dollars = Math.floor(pico / PICO_PER_USD);
    const decimals = pico - dollars * PICO_PER_USD;
    if (dollars === 0 && decimals > 0 && decimals < EXPONENT_BELOW_PICO) return this.#text(String(pico / PICO_PER_USD));
    this.#whole(dollars);
    if (decimals === 0) return;
    const start = this.#room(1);
    this.#view.setUint8(start, POINT);
    this.#length = start + 1;
    const high = Math.floor(decimals / E8);
    this.#four(high);
    this.#eight(decimals - high * E8);
    while (this.#view.getUint8(this.#length - 1) === DIGIT_0) this.#length -= 1;
  }

  #whole(value: number): void {
    if (value < E4) return this.#upToFour(value);
    if (value < E8) {
      const high = Math.floor(value / E4);
      this.#upToFour(high);
      this.#four(value - high * E4);
    } else {
      const high = Math.floor(value / E8);
      this.#whole(high);
      this.#eight(value - high * E8);
    }
  }

  /** Without zeros before it. */
  #upToFour(value: number): void {
    const digits = value < 10 ? 1 : value < 100 ? 2 : value < 1_000 ? 3 : WORD;
    const start = this.#room(WORD);
    this.#view.setInt32(start, (FOUR_DIGITS[value] ?? 0) >>> ((WORD - digits) * BITS), true);
    this.#length = start + digits;
  }

  #four(value: number): void {
    const start = this.#room(WORD);
    this.#view.setInt32(start, FOUR_DIGITS[value] ?? 0, true);
    this.#length = start + WORD;
  }

  #eight(value: number): void {
    const high = Math.floor(value / E4);
    this.#four(high);
    this.#four(value - high * E4);
  }

  #text(text: string): void {
    this.piece(new JsonPiece(text));
  }

  /** Makes room for so many bytes, and returns where they begin. It may exchange the view. */
  #room(bytes: number): number {
    const needed = this.#length + bytes + SLACK;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
      this.#view = viewOf(larger);
    }
    return this.#length;
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
