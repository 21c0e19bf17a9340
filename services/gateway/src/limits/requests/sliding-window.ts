export const WINDOW_MS = 60_000;
/** Up to this limit a minute each admitted request has a mark of its own. Beyond it the requests of one grain share a mark with the time of the
 *  last. A slot is freed up to a 240th of the window late (a quarter of a second), and memory stays at a few hundred marks for any limit. */
const EXACT_UP_TO = 240;

/** The requests admitted in the last 60 s, so that no 60 s contain more than the limit. The window is half-open: a request admitted at `t` counts
 *  until just before `t + 60 s`. Times are milliseconds of a monotonic clock. At most some 480 marks of 16 bytes. Spec: G10.4. */
export class SlidingWindow {
  /** The time of the last request of each mark, oldest first. */
  readonly #times: number[] = [];
  /** The number of requests of each mark. */
  readonly #counts: number[] = [];
  #admitted = 0;
  #newestSince = 0;
  readonly #windowMs: number;
  readonly #grainMs: number;

  /** `windowMs` other than 60 s is for tests that cannot wait a minute. */
  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs;
    this.#grainMs = windowMs / EXACT_UP_TO;
  }

  get marks(): number {
    return this.#times.length;
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
    const last = this.#counts.findIndex((count) => (left -= count) < limit);
    return (this.#times[last] ?? now) + this.#windowMs - now;
  }

  /** Counts an admitted request. Only after `waitMs` returned 0. */
  add(limit: number, now: number): void {
    this.#admitted += 1;
    const newest = this.#times.length - 1;
    if (newest >= 0 && limit > EXACT_UP_TO && now - this.#newestSince < this.#grainMs) {
      this.#times[newest] = now;
      this.#counts[newest] = (this.#counts[newest] ?? 0) + 1;
      return;
    }
    this.#times.push(now);
    this.#counts.push(1);
    this.#newestSince = now;
  }

  /** Whether nothing was admitted in the last 60 s. */
  isIdle(now: number): boolean {
    this.#expire(now);
    return this.#times.length === 0;
  }

  #expire(now: number): void {
    let expired = 0;
    for (; expired < this.#times.length && (this.#times[expired] ?? 0) + this.#windowMs <= now; expired += 1)
      this.#admitted -= this.#counts[expired] ?? 0;
    if (expired === 0) return;
    this.#times.splice(0, expired);
    this.#counts.splice(0, expired);
  }
}
