/** Lets so many through in each second, and counts the others. */
export class RateLimiter {
  readonly #limit: number;
  readonly #clock: () => number;
  #second = 0;
  #taken = 0;
  #refused = 0;

  /** `clock`: milliseconds, only forward. */
  constructor(limit: number, clock: () => number) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** How many were not let through so far. */
  get refused(): number {
    return this.#refused;
  }

  take(): boolean {
    const second = Math.floor(this.#clock() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#taken = 0;
    }
    if (this.#taken >= this.#limit) {
      this.#refused += 1;
      return false;
    }
    this.#taken += 1;
    return true;
  }
}
