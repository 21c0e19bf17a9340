import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { checkQuotas, type DailyQuotas, type QuotaResult } from './quota-check.ts';
import { DayAccounts, dayText, type DayAccountsOptions, type EndedExchange, type ScopeAccounts } from './day-accounts.ts';
import type { ScopeNames } from '../requests/request-counter.ts';
import { withTimeout } from '../shared-quotas/report-loop.ts';
import { SETTLEMENT_WAIT_MAX_MS, Settlements } from '../shared-quotas/settlements.ts';
import type { BoundThresholds } from '../thresholds.ts';

/** How often the store's totals are read: at least every 5 s, and a read takes its time. Spec: G10.10. */
const READ_INTERVAL_MS = 4_000;
/** Older totals are not used. Likewise. */
const TOTALS_MAX_AGE_MS = 15_000;
/** A read that takes longer is abandoned for the next. */
const READ_MAX_MS = 10_000;

interface QuotaLedgerOptions extends DayAccountsOptions {
  /** The stored usage of all keys on a UTC day, `YYYY-MM-DD`. */
  readonly totals: (day: string) => Promise<readonly DayUsage[]>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds on a monotonic clock. */
  readonly steadyClock: () => number;
  /** Called for every failed read of the totals. */
  readonly onFailedRead: (error: unknown) => void;
  readonly settlementWaitMaxMs?: number;
}

/** A read of today's totals. */
interface Reading {
  readonly startedAt: number;
}

/** Daily quotas by the usage of keys and workspaces today (`limits.counters: process`): the store's totals, what this process has written
 *  since, and the number of its exchanges that have ended but are not written yet. These are queued and settled in order.
 *  Spec: G10.8, G10.10. */
export class QuotaLedger implements DailyQuotas {
  readonly #options: QuotaLedgerOptions;
  #day: number;
  /** The latest day that the clock has shown. */
  #latestDay: number;
  #accounts: DayAccounts;
  /** When the read of the totals in use began. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Reading | undefined;
  /** A finished read whose rows may include a part of the batch that is being written. */
  #finished: (Reading & { readonly rows: readonly DayUsage[] }) | undefined;
  readonly #settlements = new Settlements();
  readonly #waitMaxMs: number;
  /** Resolves when the totals that checks must wait for are known, or could not be read. Undefined when checks need not wait. */
  #awaitedTotals: PromiseWithResolvers<void> | undefined;

  constructor(options: QuotaLedgerOptions) {
    this.#options = options;
    this.#waitMaxMs = options.settlementWaitMaxMs ?? SETTLEMENT_WAIT_MAX_MS;
    this.#day = Math.floor(options.clock() / DAY_MS);
    this.#latestDay = this.#day;
    this.#accounts = new DayAccounts(dayText(this.#day), options);
  }

  /** Undefined when the usage is unknown: the totals are too old, or there is no room for another account. */
  accountsOf(names: ScopeNames): ScopeAccounts | undefined {
    this.#roll();
    return this.#options.steadyClock() - this.#readAt > TOTALS_MAX_AGE_MS ? undefined : this.#accounts.of(names);
  }

  check(names: ScopeNames, thresholds: BoundThresholds): QuotaResult | Promise<QuotaResult> {
    const result = this.#check(names, thresholds);
    if (result !== 'unavailable' || this.#awaitedTotals === undefined) return result;
    // The clock was set to another day, or daily limits begin to apply. The check waits for a read of the totals, which takes some
    // milliseconds.
    const isKnown = withTimeout(this.#awaitedTotals.promise, this.#waitMaxMs, undefined);
    return isKnown.then(() => this.#check(names, thresholds));
  }

  #check(names: ScopeNames, thresholds: BoundThresholds, isSettled = false): QuotaResult | Promise<QuotaResult> {
    const accounts = this.accountsOf(names);
    if (accounts === undefined) return 'unavailable';
    const code = checkQuotas(accounts, thresholds, isSettled);
    if (code !== 'unsettled') return code && { code, isUsedUp: true };
    // Exchanges that end while the request waits were in flight when it came, and do not delay it again.
    return this.#settlements
      .settlement(accounts, this.#waitMaxMs)
      .then((isDone) => (isDone ? this.#check(names, thresholds, true) : 'unavailable'));
  }

  taken(exchange: EndedExchange): void {
    this.#roll();
    this.#settlements.taken(this.#accounts.ofExchange(exchange));
  }

  settled(count: number, usage: readonly DayUsage[]): void {
    this.#roll();
    this.#accounts.add(usage);
    this.#settlements.settled(count);
    this.#useFinished();
  }

  /** Begins to read the totals. Checks wait for them. */
  refresh(): void {
    this.#awaitedTotals ??= Promise.withResolvers();
    void this.read();
  }

  /** Reads the store's totals, unless a read is running. Never rejects. */
  async read(): Promise<void> {
    const reading: Reading = { startedAt: this.#options.steadyClock() };
    this.#roll();
    if (this.#reading !== undefined && reading.startedAt - this.#reading.startedAt < READ_MAX_MS) return;
    this.#reading = reading;
    try {
      const rows = await this.#options.totals(this.#accounts.day);
      // The read was abandoned in the meantime, or is from yesterday.
      if (this.#reading !== reading) return;
      this.#finished = { ...reading, rows };
      if (this.#settlements.areComplete) this.#useFinished();
    } catch (error) {
      this.#options.onFailedRead(error);
      if (this.#reading === reading) this.#endWait();
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  /** Call only when every exchange that the rows may include is settled. */
  #useFinished(): void {
    if (this.#finished === undefined) return;
    this.#accounts.read(this.#finished.rows);
    this.#readAt = this.#finished.startedAt;
    this.#finished = undefined;
    this.#endWait();
  }

  #endWait(): void {
    this.#awaitedTotals?.resolve();
    this.#awaitedTotals = undefined;
  }

  #roll(): void {
    const now = this.#options.clock();
    const day = Math.floor(now / DAY_MS);
    if (day === this.#day) return;
    // A day that has just begun has no usage, unless the clock was set back before its midnight. After any other jump of the clock the
    // totals have to be read.
    const hasJustBegun = day === this.#latestDay + 1 && day === this.#day + 1 && now - day * DAY_MS < TOTALS_MAX_AGE_MS;
    this.#day = day;
    this.#latestDay = Math.max(this.#latestDay, day);
    this.#accounts = new DayAccounts(dayText(day), this.#options);
    this.#reading = undefined;
    this.#finished = undefined;
    if (hasJustBegun) return;
    this.#readAt = Number.NEGATIVE_INFINITY;
    this.refresh();
  }
}

/** Reads the totals every few seconds, while they are needed. */
export function keepTotalsFresh(ledger: QuotaLedger, isNeeded: () => boolean, intervalMs = READ_INTERVAL_MS): Disposable {
  const timer = setInterval(() => {
    if (isNeeded()) void ledger.read();
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
