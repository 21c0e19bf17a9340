// Numbers in as few bytes as they need: seven bits a byte, the lowest first, the highest bit set on all but the last.

const FIRST_BYTES = 4_096;
/** A double of 64 bits holds no more than ten times seven. */
const MOST_BYTES = 10;

/** Writes numbers one after the other. */
export class NumberWriter {
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #at = 0;

  /** Bytes written. */
  get length(): number {
    return this.#at;
  }

  /** A whole number from 0 on. */
  whole(value: number): void {
    this.#makeRoom();
    let left = value;
    while (left >= 0x8000_0000) {
      this.#bytes[this.#at++] = (left % 0x80) | 0x80;
      left = Math.floor(left / 0x80);
    }
    while (left >= 0x80) {
      this.#bytes[this.#at++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    this.#bytes[this.#at++] = left;
  }

  /** A whole number of either sign. */
  signed(value: number): void {
    this.whole(value < 0 ? -2 * value - 1 : 2 * value);
  }

  double(value: number): void {
    this.#makeRoom();
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  append(other: NumberWriter): void {
    this.copy(other.#bytes.subarray(0, other.#at));
  }

  /** Bytes that another writer wrote. */
  copy(bytes: Uint8Array): void {
    while (this.#at + bytes.length > this.#bytes.length) this.#grow();
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  clear(): void {
    this.#at = 0;
  }

  /** A copy of what was written. */
  bytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  #makeRoom(): void {
    if (this.#at + MOST_BYTES > this.#bytes.length) this.#grow();
  }

  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(2 * this.#bytes.length);
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** Reads what `NumberWriter` wrote. */
export class NumberReader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  /** The bytes from here to `end`. */
  rest(end: number): Uint8Array {
    return this.#bytes.subarray(this.at, end);
  }

  whole(): number {
    const first = this.#bytes[this.at++] ?? 0;
    if (first < 0x80) return first;
    let value = first & 0x7f;
    let scale = 0x80;
    for (;;) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  /** Reads up to `end`: steps and counts in turn, each step leading from the place of one count to that of the next. A query for
   *  percentiles of many keys reads millions of them, almost all of one byte. */
  addCounts(counts: number[], end: number): void {
    const bytes = this.#bytes;
    let place = 0;
    while (this.at < end) {
      const step = bytes[this.at] ?? 0;
      if (step < 0x80) this.at += 1;
      place += step < 0x80 ? step : this.whole();
      const count = bytes[this.at] ?? 0;
      if (count < 0x80) this.at += 1;
      while (counts.length <= place) counts.push(0);
      counts[place] = (counts[place] ?? 0) + (count < 0x80 ? count : this.whole());
    }
  }

  signed(): number {
    const value = this.whole();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  double(): number {
    this.at += 8;
    return this.#view.getFloat64(this.at - 8, true);
  }
}
