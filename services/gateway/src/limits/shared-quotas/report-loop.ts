import { setTimeout as wait } from 'node:timers/promises';

/** Maximum number of items in one call, which takes the database some ten milliseconds. */
const MAX_ITEMS = 512;
/** Time after which a call counts as failed. It may still reach the database later. */
const CALL_MAX_MS = 2_000;
/** Maximum time that a request waits for a report. */
const WAIT_MAX_MS = 1_000;

/** The part of a limit that this process may use. */
interface Reported<Report, Grant> {
  /** Requests that wait for a report. */
  waiting: number;
  /** Begins a report. Times are milliseconds of a monotonic clock. */
  report(now: number, isLast: boolean): Report;
  /** Ends the last report, which was sent at `sentAt`. */
  confirm(grant: Grant, sentAt: number): void;
}

interface ReportCall<T, Report, Grant> {
  readonly items: readonly T[];
  /** Resolves with a grant for each report, in their order; rejects when it failed. `sequence` grows from call to call. */
  readonly send: (sequence: number, reports: readonly Report[]) => Promise<readonly (Grant | undefined)[]>;
}

interface ReportLoopOptions<T, Report, Grant> {
  /** Begins a call. Returns the `items` that still need a report, and the function that sends their reports. */
  readonly begin: (items: readonly T[]) => ReportCall<T, Report, Grant>;
  /** The items of the regular report. `isLast`: no report follows. */
  readonly due: (isLast: boolean) => Iterable<T>;
  readonly intervalMs: number;
  /** Milliseconds on a monotonic clock. */
  readonly clock: () => number;
  /** Called for every failed report. */
  readonly onError: (error: unknown) => void;
}

/** Reports to a database at an interval, and on request between these; one call at a time, so that reports arrive in their order. */
export class ReportLoop<T extends Reported<Report, Grant>, Report, Grant> implements AsyncDisposable {
  readonly #options: ReportLoopOptions<T, Report, Grant>;
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<T>();
  #next = Promise.withResolvers<boolean>();
  #running: Promise<void> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #sequence = 0;
  #isClosing = false;

  constructor(options: ReportLoopOptions<T, Report, Grant>) {
    this.#options = options;
    this.#timer = setInterval(() => this.#reportDue(), options.intervalMs).unref();
  }

  /** Resolves with true after reports of `items` that began later than this call; with false when one failed, took too long, or would follow a
   *  failed call within an interval. */
  async reported(items: readonly T[]): Promise<boolean> {
    for (const item of items) item.waiting += 1;
    const reported = await Promise.all(items.map((item) => this.#reported(item)));
    for (const item of items) item.waiting -= 1;
    return reported.every(Boolean);
  }

  #reported(item: T): Promise<boolean> {
    const { clock, intervalMs } = this.#options;
    if (clock() - this.#failedAt < intervalMs) return Promise.resolve(false);
    this.#pending.add(item);
    this.#start();
    return withTimeout(this.#next.promise, WAIT_MAX_MS, false);
  }

  /** Sends a last report of the due items, unless the database is unavailable. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await this.#running;
    this.#reportDue();
    await this.#running;
  }

  #reportDue(): void {
    for (const item of this.#options.due(this.#isClosing)) this.#pending.add(item);
    this.#start();
  }

  #start(): void {
    if (this.#running !== undefined || this.#pending.size === 0) return;
    this.#running = this.#run().finally(() => (this.#running = undefined));
  }

  async #run(): Promise<void> {
    // Items that become due within this turn of the event loop are sent in the same call.
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
    try {
      for (let from = 0; from < items.length; from += MAX_ITEMS)
        await withDeadline(this.#report(items.slice(from, from + MAX_ITEMS)), CALL_MAX_MS);
      return true;
    } catch (error) {
      this.#options.onError(error);
      return false;
    }
  }

  async #report(all: readonly T[]): Promise<void> {
    const { items, send } = this.#options.begin(all);
    if (items.length === 0) return;
    this.#sequence += 1;
    const sequence = this.#sequence;
    const sentAt = this.#options.clock();
    const reports = items.map((item) => item.report(sentAt, this.#isClosing));
    const grants = await send(sequence, reports);
    // A late response would grant an amount that a later report has returned.
    if (sequence !== this.#sequence) return;
    for (const [i, item] of items.entries()) {
      const grant = grants[i];
      if (grant !== undefined) item.confirm(grant, sentAt);
    }
  }

  /** Requests that wait for the next call are rejected at once, like those that come after the failure. */
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

/** Resolves like `promise`, or with `otherwise` after `maxMs`. */
export async function withTimeout<V>(promise: Promise<V>, maxMs: number, otherwise: V): Promise<V> {
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
