/** Admits `limit` a second, and counts those that are not admitted. */
export class RateLimiter {
  readonly #limit: number;
  readonly #clock: () => number;
  #second = 0;
  #taken = 0;
  #rejected = 0;

  /** `clock`: milliseconds, monotonic. */
  constructor(limit: number, clock: () => number) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** The number that was not admitted so far. */
  get rejected(): number {
    return this.#rejected;
  }

  take(): boolean {
    const second = Math.floor(this.#clock() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#taken = 0;
    }
    if (this.#taken >= this.#limit) {
      this.#rejected += 1;
      return false;
    }
    this.#taken += 1;
    return true;
  }
}
