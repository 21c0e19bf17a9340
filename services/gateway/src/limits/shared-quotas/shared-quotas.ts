import type { DayUsage } from '@vitrine/traces/day-usage';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import { firstQuota, type DailyQuotas, type QuotaResult, type ReachedQuota } from '../quotas/quota-check.ts';
import { dayText, type DayAccountsOptions, type EndedExchange, type ScopeAccounts } from '../quotas/day-accounts.ts';
import type { QuotaGrant, QuotaGrants, QuotaReport } from './quota-grants.ts';
import {
  ReservationDay,
  type QuotaReservation,
  type ReservationState,
  type ScopeReservations,
} from '../quotas/quota-reservation.ts';
import { ReportLoop } from './report-loop.ts';
import type { ScopeNames } from '../requests/request-counter.ts';
import { SETTLEMENT_WAIT_MAX_MS, Settlements } from './settlements.ts';
import type { BoundThresholds } from '../thresholds.ts';

/** Maximum number of reports or settlements that a request waits for. */
const MAX_ATTEMPTS = 4;

interface SharedQuotasOptions extends DayAccountsOptions {
  readonly grants: QuotaGrants;
  readonly reportIntervalMs: number;
  /** A process admits nothing from a reservation whose last report is older than this. */
  readonly leaseMs: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds on a monotonic clock. */
  readonly steadyClock: () => number;
  /** Called for every failed report. */
  readonly onError: (error: unknown) => void;
  readonly settlementWaitMaxMs?: number;
}

/** The daily quotas of all processes on one ledger: `limits.counters: shared`. A request waits for the ledger only when this process has
 *  used up its reservation and may get more. Spec: G10.4, G10.7. */
export class SharedQuotas implements DailyQuotas, AsyncDisposable {
  readonly #options: SharedQuotasOptions;
  readonly #settlements = new Settlements();
  readonly #reports: ReportLoop<QuotaReservation, QuotaReport, QuotaGrant>;
  #day: ReservationDay;

  constructor(options: SharedQuotasOptions) {
    this.#options = options;
    this.#day = this.#newDay(Math.floor(options.clock() / DAY_MS));
    this.#reports = new ReportLoop({
      begin: (items) => {
        const day = this.#today();
        const send = (sequence: number, reports: readonly QuotaReport[]) => options.grants.report(day, sequence, reports);
        return { items: items.filter((reservation) => day.has(reservation)), send };
      },
      due: (isLast) => this.#due(isLast),
      intervalMs: options.reportIntervalMs,
      clock: options.steadyClock,
      onError: options.onError,
    });
  }

  check(names: ScopeNames, thresholds: BoundThresholds): QuotaResult | Promise<QuotaResult> {
    const scope = this.#today().of(names);
    if (scope === undefined) return 'unavailable';
    const state = this.#state(scope, thresholds, false);
    return state === 'report' || state === 'unsettled' ? this.#checkWaiting(names, thresholds) : state;
  }

  taken(exchange: EndedExchange): void {
    this.#settlements.taken(this.#today().accounts.ofExchange(exchange));
  }

  settled(count: number, usage: readonly DayUsage[]): void {
    this.#today().accounts.add(usage);
    this.#settlements.settled(count);
  }

  /** Reports the usage and returns the unused reservations. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reports[Symbol.asyncDispose]();
  }

  async #checkWaiting(names: ScopeNames, thresholds: BoundThresholds): Promise<QuotaResult> {
    let isSettled = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      // Midnight may have passed in the meantime.
      const scope = this.#today().of(names);
      if (scope === undefined) return 'unavailable';
      const state = this.#state(scope, thresholds, isSettled);
      if (state !== 'report' && state !== 'unsettled') return state;
      const isDone = state === 'report' ? await this.#reported(scope, thresholds) : await this.#settlement(scope.accounts);
      if (!isDone) return 'unavailable';
      // Exchanges that end from now on were in flight when the request came, and do not delay it again.
      if (state === 'unsettled') isSettled = true;
    }
    // Other requests were repeatedly faster.
    return firstQuota<ReachedQuota>(thresholds, (_scope, _unit, _limit, code) => ({ code, isUsedUp: false }));
  }

  /** Undefined: no quota is reached. */
  #state(
    scope: ScopeReservations,
    thresholds: BoundThresholds,
    isSettled: boolean,
  ): ReachedQuota | 'report' | 'unsettled' | undefined {
    const now = this.#options.steadyClock();
    return firstQuota(thresholds, (which, unit, limit, code) => {
      const state: ReservationState = scope[which][unit].state(limit, now, isSettled);
      if (state === 'free') return undefined;
      if (state === 'report' || state === 'unsettled') return state;
      return { code, isUsedUp: state === 'used up' };
    });
  }

  #settlement(accounts: ScopeAccounts): Promise<boolean> {
    return this.#settlements.settlement(accounts, this.#options.settlementWaitMaxMs ?? SETTLEMENT_WAIT_MAX_MS);
  }

  /** Resolves after a report of all quotas of the scope that need one, or with false when it failed or took too long. */
  #reported(scope: ScopeReservations, thresholds: BoundThresholds): Promise<boolean> {
    const now = this.#options.steadyClock();
    const unreported: QuotaReservation[] = [];
    firstQuota<never>(thresholds, (which, unit, limit) => {
      const reservation = scope[which][unit];
      if (reservation.state(limit, now, true) === 'report') unreported.push(reservation);
      return undefined;
    });
    return this.#reports.reported(unreported);
  }

  *#due(isLast: boolean): Generator<QuotaReservation> {
    const now = this.#options.steadyClock();
    for (const reservation of this.#today().reservations()) if (reservation.isDue(now, isLast)) yield reservation;
  }

  #today(): ReservationDay {
    const number = Math.floor(this.#options.clock() / DAY_MS);
    if (number !== this.#day.number) this.#day = this.#newDay(number);
    return this.#day;
  }

  #newDay(number: number): ReservationDay {
    return new ReservationDay(number, dayText(number), this.#options);
  }
}
