import type { TraceStore } from '@vitrine/traces/trace-store';

const READ_INTERVAL_MS = 5_000;
/** A read that has not ended after this time counts as failed. */
export const STUCK_AFTER_MS = 10_000;

/** Reads the summary of a store on another server at intervals, so that health checks need no query, and tracks whether the server responds. */
export class SummaryReader implements Disposable {
  readonly #store: Pick<TraceStore, 'summary'>;
  readonly #steadyClock: () => number;
  readonly #timer: NodeJS.Timeout;
  /** When the read in progress was started; undefined without one. */
  #startedAt: number | undefined;
  #hasFailed = false;

  /** `steadyClock`: milliseconds on a monotonic clock. */
  constructor(store: Pick<TraceStore, 'summary'>, steadyClock: () => number) {
    this.#store = store;
    this.#steadyClock = steadyClock;
    this.#timer = setInterval(() => void this.#read(), READ_INTERVAL_MS).unref();
    void this.#read();
  }

  /** Whether the last read failed, or is stuck. */
  get isFailing(): boolean {
    return this.#hasFailed || (this.#startedAt !== undefined && this.#steadyClock() - this.#startedAt >= STUCK_AFTER_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    if (this.#startedAt !== undefined) return;
    this.#startedAt = this.#steadyClock();
    this.#hasFailed = await this.#store.summary().then(
      () => false,
      () => true,
    );
    this.#startedAt = undefined;
  }
}
