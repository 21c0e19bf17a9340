import { EXACT_BELOW_USD, PICO_PER_USD, roundedPico, usdText, type UsdParts } from './usd.ts';

const FIRST_SIZE = 65_536;
const DIGIT_0 = 0x30;
const POINT = 0x2e;
/** Whole numbers from here on are printed by way of a text. */
const SMALL = 2 ** 31;
/** `JSON.stringify` writes what is below a millionth with an exponent. */
const EXPONENT_BELOW_PICO = 1e6;
const DECIMALS = 12;

/** JSON in UTF-8, written digit by digit: 30,000 items of a series took `JSON.stringify` 17 ms of CPU, and take 7. Every number is, byte for
 *  byte, what `JSON.stringify` makes of it. */
export class JsonBytes {
  #bytes = Buffer.allocUnsafe(FIRST_SIZE);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was written, without a copy. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Makes room for so many bytes in all, so that they are copied once. */
  reserve(bytes: number): void {
    this.#room(Math.ceil(bytes) - this.#length);
  }

  raw(json: Uint8Array): this {
    const to = this.#room(json.length);
    const start = this.#length;
    // Without `set`: its call takes longer than the forty bytes that most are.
    for (let at = 0; at < json.length; at += 1) to[start + at] = json[at] ?? 0;
    this.#length = start + json.length;
    return this;
  }

  number(value: number): this {
    if (value >= 0 && value < SMALL && Number.isInteger(value)) this.#whole(value, digitsOf(value));
    else this.#text(JSON.stringify(value));
    return this;
  }

  /** As `usdJson` prints it. */
  usd({ thousands, pico }: UsdParts): this {
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
    this.#whole(dollars, digitsOf(dollars));
    if (decimals === 0) return;
    this.#room(1 + DECIMALS)[this.#length] = POINT;
    this.#length += 1;
    const millionths = Math.floor(decimals / EXPONENT_BELOW_PICO);
    this.#whole(millionths, DECIMALS / 2);
    this.#whole(decimals - millionths * EXPONENT_BELOW_PICO, DECIMALS / 2);
    while (this.#bytes[this.#length - 1] === DIGIT_0) this.#length -= 1;
  }

  /** With zeros before it where it has fewer digits. */
  #whole(value: number, digits: number): void {
    const to = this.#room(digits);
    const start = this.#length;
    let rest = value;
    for (let at = start + digits - 1; at >= start; at -= 1) {
      const tens = Math.floor(rest / 10);
      to[at] = DIGIT_0 + rest - tens * 10;
      rest = tens;
    }
    this.#length = start + digits;
  }

  #text(text: string): void {
    this.raw(Buffer.from(text));
  }

  #room(bytes: number): Buffer {
    const needed = this.#length + bytes;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}

function digitsOf(whole: number): number {
  let digits = 1;
  for (let more = 10; whole >= more; more *= 10) digits += 1;
  return digits;
}
