import type { Identity } from '@vitrine/gateway-keys/identity';
import { checkQuotas } from './check-quotas.ts';
import type { LimitRejection } from './limit-response.ts';
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
  check(identity: Identity): LimitRejection | undefined | Promise<LimitRejection | undefined> {
    const bound = this.#bounds.get(identity) ?? this.#bind(identity);
    if (bound === undefined) return { code: 'unavailable' };
    if (bound.isDaily) {
      const refusal = this.#checkQuotas(bound);
      if (refusal !== undefined) return refusal;
    }
    return this.#checkRates(bound);
  }

  #checkQuotas(bound: Bound, mayWait = true): LimitRejection | undefined | Promise<LimitRejection | undefined> {
    const { ledger } = this.#options;
    const accounts = ledger?.accountsOf(bound.names);
    if (accounts === undefined) {
      if (!mayWait || ledger?.awaitsTotals !== true) return { code: 'unavailable' };
      // A clock that was set to another day is nobody's fault; reading that day's totals takes some milliseconds.
      return ledger.totals(this.#settlementWaitMaxMs).then(() => this.#checkQuotas(bound, false) ?? this.#checkRates(bound));
    }
    const code = checkQuotas(accounts, bound.thresholds);
    if (code === undefined) return undefined;
    if (code !== 'unsettled') return { code };
    return ledger
      ?.settlement(accounts, this.#settlementWaitMaxMs)
      .then((isSettled) => (isSettled ? this.#checkSettled(bound) : { code: 'unavailable' }));
  }

  /** What has ended in the meantime was in flight when the request came, and does not hold it up again. */
  #checkSettled(bound: Bound): LimitRejection | undefined {
    const accounts = this.#options.ledger?.accountsOf(bound.names);
    if (accounts === undefined) return { code: 'unavailable' };
    const code = checkQuotas(accounts, bound.thresholds, true);
    return code === undefined || code === 'unsettled' ? this.#checkRates(bound) : { code };
  }

  #checkRates({ names, rates }: Bound): LimitRejection | undefined {
    if (rates.key === 0 && rates.workspace === 0) return undefined;
    const verdict = this.#windows.admit(names, rates, this.#options.steadyClock());
    if (verdict === undefined) return undefined;
    if (verdict === 'full') return { code: 'unavailable' };
    const code = verdict.scope === 'key' ? 'KEY_RATE_LIMIT_EXCEEDED' : 'WORKSPACE_RATE_LIMIT_EXCEEDED';
    return { code, waitMs: verdict.waitMs };
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
