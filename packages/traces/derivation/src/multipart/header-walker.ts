/** Reads a header by yielding the offsets that it needs, in order. It gets the `WINDOW_BYTES` bytes from there on, with zeros behind the end of the
 *  file. Returns the facts of a file of a given length. */
export type HeaderWalk<Facts> = Generator<number, ((fileBytes: number) => Facts) | undefined, Buffer>;

/** More than any structure that is read. */
const WINDOW_BYTES = 64;
/** More than the segments, chunks or boxes before the wanted one. */
const MAX_STEPS = 512;

/** Runs a walk over a file that arrives in chunks, and keeps `WINDOW_BYTES` bytes of it. */
export class HeaderWalker<Facts> {
  readonly #walk: HeaderWalk<Facts>;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #filled = 0;
  /** The offset of the window in the file. */
  #at = 0;
  #fileBytes = 0;
  #steps = 0;
  #isDone = false;
  #factsOf: ((fileBytes: number) => Facts) | undefined;

  constructor(walk: HeaderWalk<Facts>) {
    this.#walk = walk;
    this.#step();
  }

  push(bytes: Buffer): void {
    while (!this.#isDone) {
      const from = this.#at + this.#filled - this.#fileBytes;
      if (from >= bytes.length) break;
      this.#filled += bytes.copy(this.#window, this.#filled, from);
      if (this.#filled < WINDOW_BYTES) break;
      this.#step();
    }
    this.#fileBytes += bytes.length;
  }

  /** The facts of the bytes so far. None can be pushed afterwards. */
  end(): Facts | undefined {
    while (!this.#isDone && this.#filled > 0) this.#step();
    return this.#factsOf?.(this.#fileBytes);
  }

  #step(): void {
    this.#window.fill(0, this.#filled);
    const { value, done } = this.#walk.next(this.#window);
    this.#steps += 1;
    this.#isDone = done === true || value < this.#at || this.#steps > MAX_STEPS;
    if (done === true) this.#factsOf = value;
    else this.#moveTo(value);
  }

  #moveTo(at: number): void {
    const shift = at - this.#at;
    this.#window.copyWithin(0, shift, this.#filled);
    this.#filled = Math.max(0, this.#filled - shift);
    this.#at = at;
  }
}
