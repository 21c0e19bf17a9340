/** Retries of one key wait from 1 s to 5 min; all retries together are at most 10 a second in the long run, as in controller-runtime. */
const BACKOFF = { firstMs: 1_000, maxMs: 300_000 };
const RETRY_EVERY_MS = 100;
const RETRIES_AT_ONCE = 100;

export interface QueueFigures {
  /** Keys waiting for a worker. */
  readonly depth: number;
  readonly adds: number;
  readonly retries: number;
  /** Seconds that running keys have run, added up, and the longest of them. */
  readonly unfinishedSeconds: number;
  readonly longestRunningSeconds: number;
}

interface Delayed {
  readonly dueAt: number;
  readonly timer: NodeJS.Timeout;
}

export interface WorkQueueOptions {
  /** From 0 to 1, for the jitter of retries. */
  readonly random?: () => number;
  /** How long a key waited for a worker, and how long the worker took. */
  readonly onStart?: (waitedMs: number) => void;
  readonly onDone?: (tookMs: number) => void;
}

/** Keys to reconcile, with the semantics of client-go's workqueue. One worker at a time runs a key. A waiting key is not added again; a running
 *  one runs once more. Keys wait in insertion order. Each key is stored at most three times, so the number of objects bounds the queue. */
export class WorkQueue {
  readonly #waiting = new Map<string, number>();
  readonly #running = new Map<string, number>();
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  readonly #idle: ((key: string | undefined) => void)[] = [];
  readonly #drained = Promise.withResolvers<void>();
  readonly #options: WorkQueueOptions;
  /** When the full burst of retries is available again. */
  #retriesFullAt = Number.NEGATIVE_INFINITY;
  #isShutDown = false;
  #adds = 0;
  #retries = 0;

  constructor(options: WorkQueueOptions = {}) {
    this.#options = options;
  }

  get figures(): QueueFigures {
    const now = performance.now();
    const seconds = [...this.#running.values()].map((startedAt) => (now - startedAt) / 1_000);
    return {
      depth: this.#waiting.size,
      adds: this.#adds,
      retries: this.#retries,
      unfinishedSeconds: seconds.reduce((sum, one) => sum + one, 0),
      longestRunningSeconds: seconds.reduce((most, one) => Math.max(most, one), 0),
    };
  }

  add(key: string): void {
    if (this.#isShutDown || this.#waiting.has(key) || this.#again.has(key)) return;
    this.#adds += 1;
    this.#cancelDelay(key);
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    this.#waiting.set(key, performance.now());
    const next = this.#idle.shift();
    if (next !== undefined) next(this.#take());
  }

  /** Adds a key later. The shortest of several delays counts. */
  addAfter(key: string, delayMs: number): void {
    if (delayMs <= 0) return this.add(key);
    const dueAt = performance.now() + delayMs;
    if (this.#isShutDown || (this.#delayed.get(key)?.dueAt ?? Infinity) <= dueAt) return;
    this.#cancelDelay(key);
    const end = () => {
      // Also for a key that is already waiting, because an ended delay left here would block the next one.
      this.#delayed.delete(key);
      this.add(key);
    };
    this.#delayed.set(key, { dueAt, timer: setTimeout(end, delayMs).unref() });
  }

  /** Adds a failed key with an increasing delay, until `forget`. */
  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#retries += 1;
    const { random = Math.random } = this.#options;
    const fullMs = Math.min(BACKOFF.maxMs, BACKOFF.firstMs * 2 ** Math.min(failures, 30));
    this.addAfter(key, Math.max(fullMs * random(), this.#reserveRetry(performance.now()), 1));
  }

  /** Resets the backoff of a key that succeeded or was deleted. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Resolves with the next key, which must be ended with `done`, or with undefined when the queue is shut down. */
  next(): Promise<string | undefined> {
    if (this.#isShutDown) return Promise.resolve(undefined);
    if (this.#waiting.size > 0) return Promise.resolve(this.#take());
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Takes a key out of its turn, for work on many keys at once; false while a worker runs it. It must be ended with `done`. */
  claim(key: string): boolean {
    if (this.#isShutDown || this.#running.has(key)) return false;
    this.#cancelDelay(key);
    this.#waiting.delete(key);
    this.#running.set(key, performance.now());
    return true;
  }

  done(key: string): void {
    const startedAt = this.#running.get(key);
    if (startedAt === undefined) return;
    this.#running.delete(key);
    this.#options.onDone?.(performance.now() - startedAt);
    if (this.#again.delete(key)) this.add(key);
    if (this.#isShutDown && this.#running.size === 0) this.#drained.resolve();
  }

  /** Drops waiting keys, because the next process lists all objects. Resolves when no key runs. */
  shutDown(): Promise<void> {
    this.#isShutDown = true;
    this.#waiting.clear();
    this.#again.clear();
    for (const key of this.#delayed.keys()) this.#cancelDelay(key);
    for (const resolve of this.#idle.splice(0)) resolve(undefined);
    if (this.#running.size === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  /** Takes a token from the shared retry budget. Returns the delay in milliseconds. */
  #reserveRetry(now: number): number {
    this.#retriesFullAt = Math.max(this.#retriesFullAt, now) + RETRY_EVERY_MS;
    return Math.max(0, this.#retriesFullAt - now - RETRIES_AT_ONCE * RETRY_EVERY_MS);
  }

  #take(): string | undefined {
    for (const [key, addedAt] of this.#waiting) {
      const now = performance.now();
      this.#waiting.delete(key);
      this.#running.set(key, now);
      this.#options.onStart?.(now - addedAt);
      return key;
    }
    return undefined;
  }

  #cancelDelay(key: string): void {
    clearTimeout(this.#delayed.get(key)?.timer);
    this.#delayed.delete(key);
  }
}
