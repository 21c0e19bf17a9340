import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { DayAccounts, type ScopeAccounts } from './day-accounts.ts';
import { scopeNamesOf, type ScopeNames } from './scope-names.ts';
import { DAY_MS, dayText } from './utc-day.ts';

/** How often the store's totals are read: at least every 5 s, and a read takes its time. Spec: gateway decisions, section 6. */
const READ_INTERVAL_MS = 4_000;
/** Totals that were asked for longer ago than this say nothing. Likewise. */
export const TOTALS_MAX_AGE_MS = 15_000;
/** A read that takes longer than this is given up, and the next one is tried. */
const READ_MAX_MS = 10_000;

export interface QuotaLedgerOptions {
  /** What everybody has used on a UTC day, `YYYY-MM-DD`. */
  readonly totals: (day: string) => Promise<readonly DayUsage[]>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds on a clock that never goes back. */
  readonly steadyClock: () => number;
  /** Told of every read of the totals that failed. */
  readonly onFailedRead: (error: unknown) => void;
}

/** A question for today's totals. */
interface Reading {
  readonly askedAt: number;
}

interface Waiter {
  readonly place: number;
  readonly resolve: (isSettled: boolean) => void;
}

/** What keys and workspaces have spent today: the store's totals, what this process has written since, and which of its exchanges
 *  have ended but are not written yet. These stand in a line and are settled in order. Spec: gateway, Limits. */
export class QuotaLedger {
  readonly #options: QuotaLedgerOptions;
  #day: number;
  /** The latest that the clock has shown. */
  #latestDay: number;
  #accounts: DayAccounts;
  /** When the totals in use were asked for. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Reading | undefined;
  /** One that is answered, by what may hold a part of the batch that is being written. */
  #answered: (Reading & { readonly rows: readonly DayUsage[] }) | undefined;
  /** Unsettled exchanges, oldest first; undefined for those that use nothing. */
  readonly #line: (ScopeAccounts | undefined)[] = [];
  #taken = 0;
  #settled = 0;
  #waiters: Waiter[] = [];
  /** Resolves when the totals of the day that the clock was set to are known, or could not be read; undefined unless they are awaited. */
  #totalsOfSetDay: PromiseWithResolvers<void> | undefined;

  constructor(options: QuotaLedgerOptions) {
    this.#options = options;
    this.#day = Math.floor(options.clock() / DAY_MS);
    this.#latestDay = this.#day;
    this.#accounts = new DayAccounts(dayText(this.#day));
  }

  /** Undefined when nobody can tell: the totals are too old, or there is no room for another account. */
  accountsOf(names: ScopeNames): ScopeAccounts | undefined {
    this.#roll();
    return this.#options.steadyClock() - this.#readAt > TOTALS_MAX_AGE_MS ? undefined : this.#accounts.of(names);
  }

  /** Whether the totals of another day are being read because the clock was set: they are worth waiting for. */
  get awaitsTotals(): boolean {
    return this.#totalsOfSetDay !== undefined;
  }

  /** Resolves when `awaitsTotals` is over, after `maxMs` at the latest. */
  totals(maxMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxMs);
    void (this.#totalsOfSetDay?.promise ?? Promise.resolve()).then(() => {
      clearTimeout(timer);
      resolve();
    });
    return promise;
  }

  /** Resolves with true when all exchanges of both accounts that have ended by now are settled, with false after `maxMs`. */
  settlement({ key, workspace }: ScopeAccounts, maxMs: number): Promise<boolean> {
    const place = Math.max(key.lastPlace, workspace.lastPlace);
    if (place <= this.#settled) return Promise.resolve(true);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = {
      place,
      resolve: (isSettled) => {
        clearTimeout(timer);
        resolve(isSettled);
      },
    };
    const timer = setTimeout(() => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
      resolve(false);
    }, maxMs);
    this.#waiters.push(waiter);
    return promise;
  }

  /** The trace queue has taken an exchange: it stands in line. */
  taken({ scope, outcome }: Pick<CapturedExchange, 'scope' | 'outcome'>): void {
    this.#roll();
    this.#taken += 1;
    // What was refused uses nothing; a caller who is over a limit must not hold up others of its workspace.
    const accounts = outcome === 'rejected' ? undefined : this.#accounts.of(scopeNamesOf(scope));
    this.#line.push(accounts);
    if (accounts === undefined) return;
    for (const account of [accounts.key, accounts.workspace]) {
      account.unsettled += 1;
      account.lastPlace = this.#taken;
    }
  }

  /** The first `count` in line are written, with this usage, or dropped. */
  settled(count: number, usage: readonly DayUsage[]): void {
    this.#roll();
    this.#accounts.add(usage);
    for (const accounts of this.#line.splice(0, count)) {
      if (accounts === undefined) continue;
      accounts.key.unsettled -= 1;
      accounts.workspace.unsettled -= 1;
    }
    this.#settled += count;
    this.#useAnswer();
    const ready = this.#waiters.filter(({ place }) => place <= this.#settled);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter(({ place }) => place > this.#settled);
    for (const { resolve } of ready) resolve(true);
  }

  /** Reads the store's totals, unless that is under way. Never rejects. */
  async read(): Promise<void> {
    const reading: Reading = { askedAt: this.#options.steadyClock() };
    this.#roll();
    if (this.#reading !== undefined && reading.askedAt - this.#reading.askedAt < READ_MAX_MS) return;
    this.#reading = reading;
    try {
      const rows = await this.#options.totals(this.#accounts.day);
      // Given up in the meantime, or about yesterday.
      if (this.#reading !== reading) return;
      this.#answered = { ...reading, rows };
      if (this.#line.length === 0) this.#useAnswer();
    } catch (error) {
      this.#options.onFailedRead(error);
      if (this.#reading === reading) this.#endWait();
    } finally {
      if (this.#reading === reading) this.#reading = undefined;
    }
  }

  /** By now everything is settled that the answer might hold a part of. */
  #useAnswer(): void {
    if (this.#answered === undefined) return;
    this.#accounts.read(this.#answered.rows);
    this.#readAt = this.#answered.askedAt;
    this.#answered = undefined;
    this.#endWait();
  }

  #endWait(): void {
    this.#totalsOfSetDay?.resolve();
    this.#totalsOfSetDay = undefined;
  }

  #roll(): void {
    const now = this.#options.clock();
    const day = Math.floor(now / DAY_MS);
    if (day === this.#day) return;
    // On a day that has just begun nobody has spent anything, unless the clock was put back behind its midnight. After any other leap of
    // the clock the store has to say.
    const hasJustBegun = day === this.#latestDay + 1 && day === this.#day + 1 && now - day * DAY_MS < TOTALS_MAX_AGE_MS;
    this.#day = day;
    this.#latestDay = Math.max(this.#latestDay, day);
    this.#accounts = new DayAccounts(dayText(day));
    this.#reading = undefined;
    this.#answered = undefined;
    if (hasJustBegun) return;
    this.#readAt = Number.NEGATIVE_INFINITY;
    this.#totalsOfSetDay ??= Promise.withResolvers();
    void this.read();
  }
}

/** Reads the totals every few seconds. */
export function keepTotalsFresh(ledger: QuotaLedger, intervalMs = READ_INTERVAL_MS): Disposable {
  const timer = setInterval(() => void ledger.read(), intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
