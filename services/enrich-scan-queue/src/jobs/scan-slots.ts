import type { ScanCause } from '@vitrine/stores/scans/queue-scans';

/** How long routine scans get no slot after a requested one had to wait. The next requested message is fetched in this time. */
const HOLD_MS = 1_000;

interface Waiter {
  readonly cause: ScanCause;
  readonly give: (isTaken: boolean) => void;
}

/** Slots for the concurrent scans of a process. A free slot goes to a requested scan first. Routine scans get the rest. */
export class ScanSlots {
  readonly size: number;
  readonly #now: () => number;
  readonly #waiters: Waiter[] = [];
  #requestedWaitedAt = Number.NEGATIVE_INFINITY;
  #taken = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /** `now`: milliseconds on a monotonic clock. */
  constructor(size: number, now: () => number = () => performance.now()) {
    this.size = size;
    this.#now = now;
  }

  get taken(): number {
    return this.#taken;
  }

  waiting(cause: ScanCause): number {
    return this.#waiters.filter((waiter) => waiter.cause === cause).length;
  }

  /** Resolves with true when the caller has a slot, which it must `release`. Resolves with false after `withinMs` and when closed. */
  take(cause: ScanCause, withinMs: number): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => this.#settle(waiter, false), withinMs);
    const waiter: Waiter = {
      cause,
      give: (isTaken) => {
        clearTimeout(timer);
        resolve(isTaken);
      },
    };
    this.#waiters.push(waiter);
    this.#serve();
    return promise;
  }

  release(): void {
    this.#taken -= 1;
    this.#serve();
  }

  /** Stops giving out slots. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const waiter of this.#waiters.splice(0)) waiter.give(false);
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined && this.#taken < this.size; next = this.#next()) {
      this.#taken += 1;
      this.#settle(next, true);
    }
    if (this.waiting('requested') > 0) this.#requestedWaitedAt = this.#now();
    this.#serveRoutineLater();
  }

  #next(): Waiter | undefined {
    const first = (cause: ScanCause) => this.#waiters.find((waiter) => waiter.cause === cause);
    return first('requested') ?? (this.#holdMs() > 0 ? undefined : first('routine'));
  }

  #holdMs(): number {
    return Math.max(0, this.#requestedWaitedAt + HOLD_MS - this.#now());
  }

  #serveRoutineLater(): void {
    if (this.#timer !== undefined || this.#isClosed || this.waiting('routine') === 0 || this.#holdMs() === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#serve();
    }, this.#holdMs());
  }

  #settle(waiter: Waiter, isTaken: boolean): void {
    const at = this.#waiters.indexOf(waiter);
    if (at === -1) return;
    this.#waiters.splice(at, 1);
    waiter.give(isTaken);
  }
}
