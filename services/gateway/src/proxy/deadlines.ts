/** Something that has to get on by a certain tick. */
export interface Deadlined {
  deadlineAt: number;
  onDeadline(): void;
}

/** One timer for all exchanges: looks every `tickMs` at who is late. A timer or an AbortSignal per request costs 0.15 to 0.9 µs
 *  and a heap entry each; moving a deadline here is an assignment. Deadlines are kept to one tick. */
export class Deadlines implements Disposable {
  readonly #watched = new Set<Deadlined>();
  readonly #timer: NodeJS.Timeout;
  #emptied = Promise.withResolvers<void>();
  /** Milliseconds on a clock that only goes forward, as of the last tick. */
  now: number;

  constructor(clock: () => number, tickMs: number) {
    this.now = clock();
    this.#timer = setInterval(() => {
      this.now = clock();
      for (const one of this.#watched) if (one.deadlineAt <= this.now) one.onDeadline();
    }, tickMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#watched.size;
  }

  watch(one: Deadlined): void {
    this.#watched.add(one);
  }

  forget(one: Deadlined): void {
    this.#watched.delete(one);
    if (this.#watched.size === 0) this.#emptied.resolve();
  }

  /** Resolves when none is watched. */
  async empty(): Promise<void> {
    while (this.#watched.size > 0) {
      this.#emptied = Promise.withResolvers<void>();
      await this.#emptied.promise;
    }
  }

  /** Every one that is watched now, in the order they came. */
  watched(): Deadlined[] {
    return [...this.#watched];
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
