import type { Allotment, AllotmentReport, AllotmentTimes } from '../shared-quotas/allotment-ledger.ts';
import { SlidingWindow } from './sliding-window.ts';

/** A first request, or one more than expected, reserves this part of the limit ahead. */
const AHEAD_PART = 1 / 64;
/** No process reserves more than this part ahead of its requests. */
const AHEAD_MAX_PART = 1 / 8;
/** Reserved until the next report, as a multiple of the requests in the last interval. A rate may double before a request has to wait. */
const AHEAD_INTERVALS = 2;

export type WindowTimes = Pick<AllotmentTimes, 'windowMs' | 'leaseMs'>;

/** Whether one more request is admitted: yes, after a report that may raise the allotment, or no because the limit is reached. */
type WindowState = 'free' | 'report' | 'full';

/** The part of one limit that this process may use: an ordinary sliding window whose limit is the process's allotment. Together the processes
 *  never exceed the limit. At the end of any window each process has admitted at most its allotment in it, because an allotment is never reduced
 *  below what was admitted in the last window. The allotments add up to at most the limit. A process reduces its allotment before it reports the reduction, and raises it
 *  after the ledger has raised it. Times are milliseconds of a monotonic clock. */
export class SharedWindow {
  readonly name: string;
  readonly #window: SlidingWindow;
  readonly #leaseMs: number;
  #limit = 0;
  #allotted = 0;
  /** The fair share. Expired marks beyond it are not reused, but returned with the next report. */
  #share = Number.POSITIVE_INFINITY;
  #mayGrow = true;
  /** When the last successful report was sent. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #admitted = 0;
  #rejected = 0;
  /** Requests per interval, including the memory of a recent busier one. */
  #pace = 0;
  #wanted = 0;
  /** Requests that wait for a report. */
  waiting = 0;

  constructor(name: string, { windowMs, leaseMs }: WindowTimes) {
    this.name = name;
    this.#window = new SlidingWindow(windowMs);
    this.#leaseMs = leaseMs;
  }

  get allotted(): number {
    return this.#allotted;
  }

  /** Whether the allotment may be used without another report. */
  isConfirmed(now: number): boolean {
    return now - this.#confirmedAt <= this.#leaseMs;
  }

  state(limit: number, now: number): WindowState {
    this.#limit = limit;
    const isConfirmed = this.isConfirmed(now);
    if (isConfirmed && this.#window.admitted(now) < this.#usable) return 'free';
    return !isConfirmed || (this.#mayGrow && this.#usable < limit) ? 'report' : 'full';
  }

  /** Counts an admitted request. Only after `state` returned `free`. */
  add(now: number): void {
    this.#window.add(this.#usable, now);
    this.#admitted += 1;
  }

  /** Counts a rejection. Returns how long until a request of this process expires, or Infinity without an allotment. */
  reject(now: number): number {
    this.#rejected += 1;
    return this.#usable === 0 ? Number.POSITIVE_INFINITY : this.#window.waitMs(this.#usable, now);
  }

  /** Whether nothing was admitted in the last window and nothing is reserved or wanted. */
  isIdle(now: number): boolean {
    return this.#allotted === 0 && this.waiting === 0 && this.#window.isIdle(now);
  }

  /** Whether there is something to report, or the lease has to be renewed. */
  isDue(now: number): boolean {
    if (this.#admitted > 0 || this.#rejected > 0 || this.#allotted > this.#window.admitted(now)) return true;
    return this.#allotted > 0 && now - this.#confirmedAt > this.#leaseMs / 3;
  }

  /** Begins a report. From now on the process uses at most the reported `held`. */
  report(now: number, isLast = false): AllotmentReport {
    const used = this.#window.admitted(now);
    this.#pace = Math.max(this.#admitted, Math.floor(this.#pace / 2));
    const extra = this.waiting > 0 ? Math.floor(this.#limit * AHEAD_PART) : 0;
    const ahead = Math.min(AHEAD_INTERVALS * this.#pace + extra, Math.ceil(this.#limit * AHEAD_MAX_PART));
    this.#wanted = isLast ? used : Math.min(this.#limit, used + ahead + this.#rejected + this.waiting);
    [this.#admitted, this.#rejected] = [0, 0];
    // An allotment that was not confirmed in time may be lost, except for requests already admitted.
    const usable = this.isConfirmed(now) ? Math.min(this.#usable, this.#wanted) : 0;
    this.#allotted = Math.max(used, usable);
    const { name } = this;
    return {
      name,
      limit: this.#limit,
      held: this.#allotted,
      used,
      most: Math.min(this.#wanted, this.#share),
      wanted: this.#wanted,
    };
  }

  /** Ends a report that was sent at `sentAt`. */
  confirm({ allotted, demands, position, unreported }: Allotment, sentAt: number): void {
    this.#allotted = allotted;
    this.#confirmedAt = sentAt;
    const share = fairShares(Math.max(0, this.#limit - unreported), demands)[position] ?? 0;
    const demand = demands[position] ?? 0;
    this.#share = share < demand ? share : Number.POSITIVE_INFINITY;
    this.#mayGrow = allotted >= this.#wanted && this.#share >= this.#wanted;
  }

  get #usable(): number {
    return Math.min(this.#allotted, this.#share, this.#limit);
  }
}

/** Max-min fair shares of a limit: no share exceeds its demand, and all shares below their demand are equal. If the remainder cannot be divided
 *  evenly, the first in order get one more. The shares add up to the limit, or to the sum of all demands if that is smaller. */
export function fairShares(limit: number, demands: readonly number[]): number[] {
  const shares = demands.map(() => 0);
  let left = limit;
  const ascending = demands.map((demand, i) => ({ demand, i })).toSorted((a, b) => a.demand - b.demand || b.i - a.i);
  for (const [done, { demand, i }] of ascending.entries()) {
    const share = Math.min(demand, Math.floor(left / (demands.length - done)));
    shares[i] = share;
    left -= share;
  }
  return shares;
}
