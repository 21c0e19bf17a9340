import type { Identity } from '@vitrine/gateway-keys/identity';
import type { Rejection } from '../rejection.ts';
import { checkQuotas } from './check-quotas.ts';
import { LIMIT_CHECK_UNAVAILABLE, quotaRejection, rateRejection } from './limit-rejections.ts';
import type { QuotaLedger } from './quota-ledger.ts';
import { RateWindows } from './rate-windows.ts';
import { scopeNames, type ScopeNames } from './scope-names.ts';
import { isDaily, type BoundThresholds, type ThresholdTable } from './thresholds.ts';

/** How long a request near a daily quota waits for what has ended before it to be written. Usually that is some milliseconds; a
 *  writer that takes longer stands still (`TraceQueue`), and nobody can tell what has been spent. */
export const SETTLEMENT_WAIT_MAX_MS = 1_000;

export interface UsageGateOptions {
  readonly book: ThresholdTable;
  /** Undefined when nothing has a daily limit. */
  readonly ledger: QuotaLedger | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds on a clock that never goes back. */
  readonly steadyClock: () => number;
  /** Told of every request whose key has a plan that is not configured. */
  readonly onUnknownPlan: (identity: Identity) => void;
  readonly settlementWaitMaxMs?: number;
}

interface Bound {
  readonly names: ScopeNames;
  readonly thresholds: BoundThresholds;
  readonly isDaily: boolean;
  readonly rates: { readonly key: number; readonly workspace: number };
}

/** Decides whether a request of somebody who is known may go on to a provider. Under a microsecond; waits only near a daily quota.
 *  Spec: gateway, Limits. */
export class UsageGate {
  readonly #options: UsageGateOptions;
  readonly #settlementWaitMaxMs: number;
  readonly #windows = new RateWindows();
  /** What binds an identity, worked out once. */
  readonly #bounds = new WeakMap<Identity, Bound>();

  constructor(options: UsageGateOptions) {
    this.#options = options;
    this.#settlementWaitMaxMs = options.settlementWaitMaxMs ?? SETTLEMENT_WAIT_MAX_MS;
  }

  /** Undefined: it may pass, and counts. Daily quotas are judged before request rates. */
  check(identity: Identity): Rejection | undefined | Promise<Rejection | undefined> {
    const bound = this.#bounds.get(identity) ?? this.#bind(identity);
    if (bound === undefined) return LIMIT_CHECK_UNAVAILABLE;
    if (bound.isDaily) {
      const rejection = this.#checkQuotas(bound);
      if (rejection !== undefined) return rejection;
    }
    return this.#checkRates(bound);
  }

  #checkQuotas(bound: Bound, mayWait = true): Rejection | undefined | Promise<Rejection | undefined> {
    const { ledger } = this.#options;
    const accounts = ledger?.accountsOf(bound.names);
    if (accounts === undefined) {
      if (!mayWait || ledger?.awaitsTotals !== true) return LIMIT_CHECK_UNAVAILABLE;
      // A clock that was set to another day is nobody's fault; reading that day's totals takes some milliseconds.
      return ledger.totals(this.#settlementWaitMaxMs).then(() => this.#checkQuotas(bound, false) ?? this.#checkRates(bound));
    }
    const code = checkQuotas(accounts, bound.thresholds);
    if (code === undefined) return undefined;
    if (code !== 'unsettled') return quotaRejection(code, this.#options.clock());
    return ledger
      ?.settlement(accounts, this.#settlementWaitMaxMs)
      .then((isSettled) => (isSettled ? this.#checkSettled(bound) : LIMIT_CHECK_UNAVAILABLE));
  }

  /** What has ended in the meantime was in flight when the request came, and does not hold it up again. */
  #checkSettled(bound: Bound): Rejection | undefined {
    const accounts = this.#options.ledger?.accountsOf(bound.names);
    if (accounts === undefined) return LIMIT_CHECK_UNAVAILABLE;
    const code = checkQuotas(accounts, bound.thresholds, true);
    return code === undefined || code === 'unsettled' ? this.#checkRates(bound) : quotaRejection(code, this.#options.clock());
  }

  #checkRates({ names, rates }: Bound): Rejection | undefined {
    if (rates.key === 0 && rates.workspace === 0) return undefined;
    const verdict = this.#windows.admit(names, rates, this.#options.steadyClock());
    if (verdict === undefined) return undefined;
    if (verdict === 'full') return LIMIT_CHECK_UNAVAILABLE;
    const code = verdict.scope === 'key' ? 'KEY_RATE_LIMIT_EXCEEDED' : 'WORKSPACE_RATE_LIMIT_EXCEEDED';
    return rateRejection(code, verdict.waitMs);
  }

  #bind(identity: Identity): Bound | undefined {
    const thresholds = this.#options.book.of(identity);
    if (thresholds === undefined) {
      this.#options.onUnknownPlan(identity);
      return undefined;
    }
    const { key, workspace } = thresholds;
    const bound: Bound = {
      names: scopeNames(identity.org_id, identity.workspace_id, identity.key_id),
      thresholds,
      isDaily: isDaily(key) || isDaily(workspace),
      rates: { key: key.requestsPerMinute, workspace: workspace.requestsPerMinute },
    };
    this.#bounds.set(identity, bound);
    return bound;
  }
}
