/** Admits `limit` events a second of each key and counts the rejected ones. Counts at most `maxKeys` keys a second and rejects further keys. */
export class RateLimiter {
  readonly #limit: number;
  readonly #clock: () => number;
  readonly #maxKeys: number;
  readonly #taken = new Map<string, number>();
  #second = 0;
  #rejected = 0;

  /** `clock`: milliseconds, monotonic. */
  constructor(limit: number, clock: () => number, maxKeys = 1) {
    this.#limit = limit;
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  /** The number rejected so far. */
  get rejected(): number {
    return this.#rejected;
  }

  take(key = ''): boolean {
    const second = Math.floor(this.#clock() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#taken.clear();
    }
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= this.#limit || (taken === 0 && this.#taken.size >= this.#maxKeys)) {
      this.#rejected += 1;
      return false;
    }
    this.#taken.set(key, taken + 1);
    return true;
  }
}
