export const WINDOW_MS = 60_000;
/** Up to this many a minute each passage is remembered by itself. Beyond it those of one grain are remembered together, by the last
 *  of them: a slot comes back up to a quarter of a second late, and memory stays at some hundred marks whatever the limit. */
const EXACT_UP_TO = 240;
const GRAIN_MS = WINDOW_MS / EXACT_UP_TO;
const MIN_MARKS = 4;

/** What has passed in the last 60 s, such that never more than the limit passes in any 60 s: half-open, so that what passed at
 *  `t` counts until just before `t + 60 s`. Times are milliseconds of a clock that never goes back. At most 512 marks of
 *  16 bytes. Spec: gateway, Limits. */
export class SlidingWindow {
  /** A ring of marks: the time of the last passage it stands for, and how many they are. */
  #ring = new Float64Array(2 * MIN_MARKS);
  #head = 0;
  #marks = 0;
  #passed = 0;
  #newestSince = 0;

  get bytes(): number {
    return this.#ring.byteLength;
  }

  /** How long until one more may pass: 0 for now. `limit` is at least 1 and may differ from call to call. */
  waitMs(limit: number, now: number): number {
    this.#forget(now);
    let left = this.#passed;
    if (left < limit) return 0;
    let at = this.#head;
    for (;;) {
      left -= this.#ring[at + 1] ?? left;
      if (left < limit) return (this.#ring[at] ?? 0) + WINDOW_MS - now;
      at = this.#after(at);
    }
  }

  /** One passes. Only after `waitMs` said 0. */
  pass(limit: number, now: number): void {
    this.#passed += 1;
    const newest = (this.#head + 2 * (this.#marks - 1)) % this.#ring.length;
    if (this.#marks > 0 && limit > EXACT_UP_TO && now - this.#newestSince < GRAIN_MS) {
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

  /** Whether nothing has passed in the last 60 s. */
  isIdle(now: number): boolean {
    this.#forget(now);
    return this.#marks === 0;
  }

  #forget(now: number): void {
    while (this.#marks > 0 && (this.#ring[this.#head] ?? 0) + WINDOW_MS <= now) {
      this.#passed -= this.#ring[this.#head + 1] ?? 0;
      this.#head = this.#after(this.#head);
      this.#marks -= 1;
    }
    // A burst must not hold its memory for as long as its key is used at all.
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
