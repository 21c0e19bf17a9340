export const WINDOW_MS = 60_000;
/** Up to this limit a minute each admitted request has a mark of its own. Beyond it those of one grain share a mark, at the time of the
 *  last: a slot is free again up to a 240th of the window late (a quarter of a second), and memory stays at some hundred marks whatever the limit. */
const EXACT_UP_TO = 240;
const MIN_MARKS = 4;

/** The requests admitted in the last 60 s, such that never more than the limit is admitted in any 60 s: half-open, so that one admitted at
 *  `t` counts until just before `t + 60 s`. Times are milliseconds of a monotonic clock. At most 512 marks of 16 bytes.
 *  Spec: G10.4. */
export class SlidingWindow {
  /** A ring of marks: the time of the last request of a mark, and their number. */
  #ring = new Float64Array(2 * MIN_MARKS);
  #head = 0;
  #marks = 0;
  #admitted = 0;
  #newestSince = 0;
  readonly #windowMs: number;
  readonly #grainMs: number;

  /** `windowMs` other than 60 s is for tests that cannot wait a minute. */
  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs;
    this.#grainMs = windowMs / EXACT_UP_TO;
  }

  get bytes(): number {
    return this.#ring.byteLength;
  }

  /** The requests that count at `now`. */
  admitted(now: number): number {
    this.#expire(now);
    return this.#admitted;
  }

  /** How long until one more may be admitted: 0 for now. `limit` is at least 1 and may differ from call to call. */
  waitMs(limit: number, now: number): number {
    this.#expire(now);
    let left = this.#admitted;
    if (left < limit) return 0;
    let at = this.#head;
    for (;;) {
      left -= this.#ring[at + 1] ?? left;
      if (left < limit) return (this.#ring[at] ?? 0) + this.#windowMs - now;
      at = this.#after(at);
    }
  }

  /** Counts an admitted request. Only after `waitMs` returned 0. */
  add(limit: number, now: number): void {
    this.#admitted += 1;
    const newest = (this.#head + 2 * (this.#marks - 1)) % this.#ring.length;
    if (this.#marks > 0 && limit > EXACT_UP_TO && now - this.#newestSince < this.#grainMs) {
      this.#ring[newest] = now;
      this.#ring[newest + 1] = (this.#ring[newest + 1] ?? 0) + 1;
      return;
    }
    if (2 * this.#marks === this.#ring.length) this.#resize(2 * this.#ring.length);
    const at = (this.#head + 2 * this.#marks) % this.#ring.length;
    this.#ring[at] = now;
    this.#ring[at + 1] = 1;
    this.#marks += 1;
    this.#newestSince = now;
  }

  /** Whether nothing was admitted in the last 60 s. */
  isIdle(now: number): boolean {
    this.#expire(now);
    return this.#marks === 0;
  }

  #expire(now: number): void {
    while (this.#marks > 0 && (this.#ring[this.#head] ?? 0) + this.#windowMs <= now) {
      this.#admitted -= this.#ring[this.#head + 1] ?? 0;
      this.#head = this.#after(this.#head);
      this.#marks -= 1;
    }
    // The memory of a burst must be freed although its key is still used.
    if (this.#ring.length > 2 * MIN_MARKS && 8 * this.#marks <= this.#ring.length) this.#resize(this.#ring.length / 2);
  }

  #after(at: number): number {
    return at + 2 === this.#ring.length ? 0 : at + 2;
  }

  #resize(length: number): void {
    const ring = new Float64Array(length);
    for (let mark = 0, at = this.#head; mark < this.#marks; mark += 1, at = this.#after(at)) {
      ring[2 * mark] = this.#ring[at] ?? 0;
      ring[2 * mark + 1] = this.#ring[at + 1] ?? 0;
    }
    this.#ring = ring;
    this.#head = 0;
  }
}
