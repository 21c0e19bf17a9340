/** Admits `limit` a second of each key. Counts at most `maxKeys` keys a second; further keys are not admitted. */
export class KeyedRateLimiter {
  readonly #limit: number;
  readonly #maxKeys: number;
  readonly #clock: () => number;
  readonly #taken = new Map<string, number>();
  #second = 0;

  /** `clock`: milliseconds, monotonic. */
  constructor(limit: number, maxKeys: number, clock: () => number) {
    this.#limit = limit;
    this.#maxKeys = maxKeys;
    this.#clock = clock;
  }

  take(key: string): boolean {
    const second = Math.floor(this.#clock() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#taken.clear();
    }
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= this.#limit || (taken === 0 && this.#taken.size >= this.#maxKeys)) return false;
    this.#taken.set(key, taken + 1);
    return true;
  }
}
