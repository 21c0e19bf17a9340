/** How many may begin within a time: `perSecond` in the long run, `burst` at once. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  /** `now`: milliseconds of a monotonic clock. */
  constructor({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }, now: number) {
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Takes a token, now or in the future; returns in how many milliseconds it may be used. */
  reserve(now: number): number {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs) - 1;
    this.#at = now;
    return Math.max(0, -this.#tokens / this.#perMs);
  }
}
