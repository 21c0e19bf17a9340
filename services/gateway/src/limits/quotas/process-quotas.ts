import { checkQuotas } from './check-quotas.ts';
import type { QuotaCheck, QuotaResult } from './quota-check.ts';
import type { QuotaLedger } from './quota-ledger.ts';
import type { ScopeNames } from '../scope-names.ts';
import { SETTLEMENT_WAIT_MAX_MS } from '../shared-quotas/settlements.ts';
import type { BoundThresholds } from '../thresholds.ts';

/** Daily quotas by the totals of the store and what this process has written since: `limits.counters: process`. */
export class ProcessQuotas implements QuotaCheck {
  readonly #ledger: QuotaLedger;
  readonly #waitMaxMs: number;

  constructor(ledger: QuotaLedger, waitMaxMs: number = SETTLEMENT_WAIT_MAX_MS) {
    this.#ledger = ledger;
    this.#waitMaxMs = waitMaxMs;
  }

  check(names: ScopeNames, thresholds: BoundThresholds): QuotaResult | Promise<QuotaResult> {
    const result = this.#check(names, thresholds);
    if (result !== 'unavailable' || !this.#ledger.awaitsTotals) return result;
    // The clock was set to another day; reading that day's totals takes some milliseconds.
    return this.#ledger.totals(this.#waitMaxMs).then(() => this.#check(names, thresholds));
  }

  #check(names: ScopeNames, thresholds: BoundThresholds): QuotaResult | Promise<QuotaResult> {
    const accounts = this.#ledger.accountsOf(names);
    if (accounts === undefined) return 'unavailable';
    const code = checkQuotas(accounts, thresholds);
    if (code !== 'unsettled') return code && { code, isUsedUp: true };
    return this.#ledger
      .settlement(accounts, this.#waitMaxMs)
      .then((isSettled) => (isSettled ? this.#checkSettled(names, thresholds) : 'unavailable'));
  }

  /** Exchanges that ended while the request waited were in flight when it came, and do not delay it again. */
  #checkSettled(names: ScopeNames, thresholds: BoundThresholds): QuotaResult {
    const accounts = this.#ledger.accountsOf(names);
    if (accounts === undefined) return 'unavailable';
    const code = checkQuotas(accounts, thresholds, true);
    return code === undefined || code === 'unsettled' ? undefined : { code, isUsedUp: true };
  }
}
