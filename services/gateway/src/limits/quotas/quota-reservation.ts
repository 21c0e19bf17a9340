import { mayReach, type QuotaUnit } from './quota-check.ts';
import { DayAccounts, type DayAccount, type DayAccountsOptions, type ScopeAccounts } from './day-accounts.ts';
import type { QuotaGrant, QuotaReport, QuotaReporter } from '../shared-quotas/quota-grants.ts';
import { randomUUID } from 'node:crypto';
import type { ScopeNames } from '../requests/request-counter.ts';

/** Reserved until the next report, as a multiple of the usage in the last interval. A rate may double before a request has to wait. */
const AHEAD_INTERVALS = 2;
/** A key in use additionally reserves this part of the quota. */
const AHEAD_PART = 1 / 64;
/** A key that was not used for this long returns its reservation. */
const IDLE_AFTER_MS = 60_000;

/** Whether one more request is admitted. Otherwise the reason: ended exchanges may have used up the reservation (`unsettled`), the ledger
 *  might raise it (`report`), other processes have reserved the rest (`reserved`), or the quota is `used up`. */
export type ReservationState = 'free' | 'unsettled' | 'report' | 'reserved' | 'used up';

/** The part of one daily quota that this process may use. It admits requests while its usage is below its allotment. Usage and reservations of all
 *  processes add up to at most the limit, so the quota is exceeded by at most the usage in flight. Times are milliseconds of a monotonic clock. */
export class QuotaReservation {
  readonly name: string;
  readonly unit: QuotaUnit;
  readonly account: DayAccount;
  readonly #leaseMs: number;
  #limit = 0;
  #allotted = 0;
  #grant: QuotaGrant | undefined;
  /** When the report of `#grant` was sent, and its usage. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #confirmedUsage = 0;
  #sentUsage = 0;
  #sentLimit = 0;
  /** Usage per interval, including the memory of a recent busier one. */
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

  /** `isSettled`: do not wait (again) for ended exchanges. */
  state(limit: number, now: number, isSettled = false): ReservationState {
    this.#limit = limit;
    this.#checkedAt = now;
    const used = this.#used;
    if (this.#usedByAll >= limit) return 'used up';
    if (!this.#isConfirmed(now)) return 'report';
    if (used < this.#allotted)
      return !isSettled && mayReach(this.account, this.unit, used, this.#allotted) ? 'unsettled' : 'free';
    // If the last report brought nothing, the next regular one may.
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

  /** Begins a report. From now on the process uses at most the reported `held`. */
  report(now: number, isLast = false): QuotaReport {
    const used = this.#used;
    this.#pace = Math.max(used - this.#sentUsage, Math.floor(this.#pace / 2));
    const ahead = isLast || this.#isIdle(now) ? 0 : this.#ahead();
    const least = !isLast && (this.waiting > 0 || this.#wasRejected) ? 1 : 0;
    const wanted = used + Math.max(ahead, least);
    // A reservation that was not confirmed in time is lost.
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

  /** The known usage. */
  get #usedByAll(): number {
    if (this.#grant === undefined) return this.#used;
    return Math.max(this.#grant.stored, this.#grant.reported + this.#used - this.#confirmedUsage);
  }

  /** All processes together reserve at most half of what is left, so that a busy process can get more while others are idle. */
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

/** Usage and reservations of this process on one UTC day. It reports under a new id for each day, so that reported usage only grows, even when the
 *  clock is set back to an earlier day. */
export class ReservationDay implements QuotaReporter {
  /** Days since the epoch. */
  readonly number: number;
  readonly day: string;
  readonly process: string = randomUUID();
  readonly accounts: DayAccounts;
  readonly #leaseMs: number;
  readonly #reservations = new Map<DayAccount, Reservations>();

  constructor(number: number, day: string, options: DayAccountsOptions & { readonly leaseMs: number }) {
    this.number = number;
    this.day = day;
    this.#leaseMs = options.leaseMs;
    this.accounts = new DayAccounts(day, options);
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
