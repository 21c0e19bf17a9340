import { setTimeout as wait } from 'node:timers/promises';

interface ReportLoopOptions<T> {
  /** Sends one report of at most `maxItems`; rejects when it failed. */
  readonly send: (items: readonly T[]) => Promise<void>;
  /** What the regular report is about. */
  readonly due: () => Iterable<T>;
  readonly intervalMs: number;
  readonly maxItems: number;
  /** After how long a call has failed: it may still reach the database later. */
  readonly callMaxMs: number;
  /** How long `reported` waits at most. */
  readonly waitMaxMs: number;
  /** Milliseconds on a monotonic clock. */
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
}

/** Reports to a database at an interval, and on request between these; one call at a time, so that reports arrive in their order. */
export class ReportLoop<T> implements AsyncDisposable {
  readonly #options: ReportLoopOptions<T>;
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<T>();
  #next = Promise.withResolvers<boolean>();
  #running: Promise<void> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReportLoopOptions<T>) {
    this.#options = options;
    this.#timer = setInterval(() => this.#reportDue(), options.intervalMs);
    this.#timer.unref();
  }

  /** Resolves with true after a report of `item` that began later than this call; with false when it failed, took too long, or would be
   *  the next call within an interval after a failed one. */
  reported(item: T): Promise<boolean> {
    const { clock, intervalMs, waitMaxMs } = this.#options;
    if (clock() - this.#failedAt < intervalMs) return Promise.resolve(false);
    this.#pending.add(item);
    this.#start();
    return withTimeout(this.#next.promise, waitMaxMs, false);
  }

  /** Sends a last report of what is due, unless the database is away. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    this.#reportDue();
    await this.#running;
  }

  #reportDue(): void {
    for (const item of this.#options.due()) this.#pending.add(item);
    this.#start();
  }

  #start(): void {
    if (this.#running !== undefined || this.#pending.size === 0) return;
    this.#running = this.#run().finally(() => (this.#running = undefined));
  }

  async #run(): Promise<void> {
    // What else becomes due within this turn of the event loop goes with the same call.
    await Promise.resolve();
    while (this.#pending.size > 0) {
      const items = [...this.#pending];
      const { resolve } = this.#next;
      this.#pending.clear();
      this.#next = Promise.withResolvers<boolean>();
      const isSent = await this.#send(items);
      resolve(isSent);
      if (!isSent) return this.#fail();
    }
  }

  async #send(items: readonly T[]): Promise<boolean> {
    const { send, maxItems, callMaxMs, onError } = this.#options;
    try {
      for (let from = 0; from < items.length; from += maxItems)
        await withDeadline(send(items.slice(from, from + maxItems)), callMaxMs);
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  /** Whoever waits for the next call gets no worse a result than whoever comes later. */
  #fail(): void {
    this.#failedAt = this.#options.clock();
    this.#pending.clear();
    this.#next.resolve(false);
    this.#next = Promise.withResolvers<boolean>();
  }
}

async function withDeadline(call: Promise<void>, maxMs: number): Promise<void> {
  const isDone = await withTimeout(
    call.then(() => true),
    maxMs,
    false,
  );
  if (!isDone) throw new Error(`no response within ${maxMs} ms`);
}

async function withTimeout<V>(promise: Promise<V>, maxMs: number, otherwise: V): Promise<V> {
  const stop = new AbortController();
  const timeout = wait(maxMs, otherwise, { signal: stop.signal });
  timeout.catch(() => {});
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    stop.abort();
    promise.catch(() => {});
  }
}
