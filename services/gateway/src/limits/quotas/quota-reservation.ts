import { mayReach, type QuotaUnit } from './quota-check.ts';
import { DayAccounts, type DayAccount, type ScopeAccounts } from './day-accounts.ts';
import type { QuotaGrant, QuotaReport, QuotaReporter } from '../shared-quotas/quota-grants.ts';
import { randomUUID } from 'node:crypto';
import type { ScopeNames } from '../requests/request-counter.ts';

/** Reserved for the time until the next report, in usage of the last interval: a rate may double before a request has to wait. */
const AHEAD_INTERVALS = 2;
/** A key in use reserves this part of the quota besides. */
const AHEAD_PART = 1 / 64;
/** A key that was not used for this long returns its reservation. */
const IDLE_AFTER_MS = 60_000;

/** Whether one more request is admitted. Otherwise the reason: ended exchanges may have used up the reservation (`unsettled`), the ledger
 *  might raise it (`report`), other processes have reserved the rest (`reserved`), or the quota is `used up`. */
export type ReservationState = 'free' | 'unsettled' | 'report' | 'reserved' | 'used up';

/** The part of one daily quota that this process may use. It admits requests while it has used less than it was allotted; usage and
 *  reservations of all processes add up to the limit at most, so the quota is exceeded by what is in flight at most. Times are milliseconds of a
 *  monotonic clock. */
export class QuotaReservation {
  readonly name: string;
  readonly unit: QuotaUnit;
  readonly account: DayAccount;
  readonly #leaseMs: number;
  #limit = 0;
  #allotted = 0;
  #grant: QuotaGrant | undefined;
  /** When the report of `#grant` was sent, and the usage that it said. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #confirmedUsage = 0;
  #sentUsage = 0;
  #sentLimit = 0;
  /** Usage in an interval, with memory of a busier one that has just passed. */
  #pace = 0;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #wasRejected = false;
  /** Requests that wait for a report. */
  waiting = 0;

  constructor(name: string, unit: QuotaUnit, account: DayAccount, leaseMs: number) {
    this.name = name;
    this.unit = unit;
    this.account = account;
    this.#leaseMs = leaseMs;
  }

  get allotted(): number {
    return this.#allotted;
  }

  /** `isSettled`: exchanges that have ended are not waited for (again). */
  state(limit: number, now: number, isSettled = false): ReservationState {
    this.#limit = limit;
    this.#checkedAt = now;
    const used = this.#used;
    if (this.#usedByAll >= limit) return 'used up';
    if (!this.#isConfirmed(now)) return 'report';
    if (used < this.#allotted)
      return !isSettled && mayReach(this.account, this.unit, used, this.#allotted) ? 'unsettled' : 'free';
    // When the last report brought nothing, the next regular one may.
    const mayGrow = limit > this.#sentLimit || (this.#grant !== undefined && this.#grant.allotted > this.#confirmedUsage);
    if (!mayGrow) this.#wasRejected = true;
    return mayGrow ? 'report' : 'reserved';
  }

  /** Whether there is something to report, or the lease has to be renewed. */
  isDue(now: number, isLast = false): boolean {
    if (this.#limit === 0) return false;
    const holdsMore = this.#allotted > this.#used;
    if (this.#used !== this.#confirmedUsage || this.#wasRejected || (isLast && holdsMore)) return true;
    return holdsMore && (this.#isIdle(now) || now - this.#confirmedAt > this.#leaseMs / 3);
  }

  /** Begins a report: from now on no more is used than it says. */
  report(now: number, isLast = false): QuotaReport {
    const used = this.#used;
    this.#pace = Math.max(used - this.#sentUsage, Math.floor(this.#pace / 2));
    const ahead = isLast || this.#isIdle(now) ? 0 : this.#ahead();
    const least = !isLast && (this.waiting > 0 || this.#wasRejected) ? 1 : 0;
    const wanted = used + Math.max(ahead, least);
    // A reservation that has not been confirmed in time is gone.
    this.#allotted = Math.max(used, this.#isConfirmed(now) ? Math.min(this.#allotted, wanted) : 0);
    this.#sentUsage = used;
    this.#sentLimit = this.#limit;
    this.#wasRejected = false;
    return { name: this.name, unit: this.unit, limit: this.#limit, used, held: this.#allotted, wanted };
  }

  /** Ends the last report, which was sent at `sentAt`. */
  confirm(grant: QuotaGrant, sentAt: number): void {
    this.#grant = grant;
    this.#allotted = grant.allotted;
    this.#confirmedAt = sentAt;
    this.#confirmedUsage = this.#sentUsage;
  }

  get #used(): number {
    return this.account.own[this.unit];
  }

  /** What is known to be used. */
  get #usedByAll(): number {
    if (this.#grant === undefined) return this.#used;
    return Math.max(this.#grant.stored, this.#grant.reported + this.#used - this.#confirmedUsage);
  }

  /** At most half of what is left is held by all processes together, so that a busy one finds some where others are idle. */
  #ahead(): number {
    const { unsettled, largest } = this.account;
    const part = Math.floor(this.#limit * AHEAD_PART);
    const need = AHEAD_INTERVALS * this.#pace + unsettled * largest[this.unit] + part;
    const left = Math.max(0, this.#limit - this.#usedByAll);
    const most = this.#grant === undefined ? part : Math.floor(left / (2 * this.#grant.processes));
    return Math.min(need, most, Number.MAX_SAFE_INTEGER);
  }

  #isConfirmed(now: number): boolean {
    return now - this.#confirmedAt <= this.#leaseMs;
  }

  #isIdle(now: number): boolean {
    return now - this.#checkedAt > IDLE_AFTER_MS;
  }
}

type Reservations = Readonly<Record<QuotaUnit, QuotaReservation>>;

export interface ScopeReservations {
  readonly accounts: ScopeAccounts;
  readonly key: Reservations;
  readonly workspace: Reservations;
}

/** What this process has used and reserved on one UTC day. It reports by a new id for each day, so that what it reports only grows, also
 *  when the clock is put back to a day that it has left. */
export class ReservationDay implements QuotaReporter {
  /** Days since the epoch. */
  readonly number: number;
  readonly day: string;
  readonly process: string = randomUUID();
  readonly accounts: DayAccounts;
  readonly #leaseMs: number;
  readonly #reservations = new Map<DayAccount, Reservations>();

  constructor(
    number: number,
    day: string,
    { leaseMs, maxAccounts }: { readonly leaseMs: number; readonly maxAccounts?: number },
  ) {
    this.number = number;
    this.day = day;
    this.#leaseMs = leaseMs;
    this.accounts = new DayAccounts(day, maxAccounts);
  }

  /** Undefined when there is no room for another account. */
  of(names: ScopeNames): ScopeReservations | undefined {
    const accounts = this.accounts.of(names);
    if (accounts === undefined) return undefined;
    return {
      accounts,
      key: this.#reservationsOf(names.key, accounts.key),
      workspace: this.#reservationsOf(names.workspace, accounts.workspace),
    };
  }

  has(reservation: QuotaReservation): boolean {
    return this.#reservations.get(reservation.account)?.[reservation.unit] === reservation;
  }

  *reservations(): Generator<QuotaReservation> {
    for (const { tokens, picoUsd } of this.#reservations.values()) {
      yield tokens;
      yield picoUsd;
    }
  }

  #reservationsOf(name: string, account: DayAccount): Reservations {
    const known = this.#reservations.get(account);
    if (known !== undefined) return known;
    const of = (unit: QuotaUnit) => new QuotaReservation(name, unit, account, this.#leaseMs);
    const made = { tokens: of('tokens'), picoUsd: of('picoUsd') };
    this.#reservations.set(account, made);
    return made;
  }
}
