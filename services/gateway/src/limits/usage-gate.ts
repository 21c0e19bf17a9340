import type { Identity } from '@vitrine/gateway-keys/identity';
import type { Rejection } from '@vitrine/http-api/rejection';
import { checkQuotas } from './check-quotas.ts';
import { LIMIT_CHECK_UNAVAILABLE, quotaRejection, rateRejection } from './limit-rejections.ts';
import type { QuotaLedger } from './quota-ledger.ts';
import type { RateLimits, RateResult, RequestCounter } from './request-counter.ts';
import { scopeNames, type ScopeNames } from './scope-names.ts';
import { isDaily, type BoundThresholds, type ThresholdTable } from './thresholds.ts';

/** How long a request near a daily quota waits until the usage of ended exchanges is settled. Usually that takes some milliseconds;
 *  when the writer stalls (`TraceQueue`), the usage is unknown. */
export const SETTLEMENT_WAIT_MAX_MS = 1_000;

export interface UsageGateOptions {
  readonly thresholds: ThresholdTable;
  /** Undefined when nothing has a daily limit. */
  readonly ledger: QuotaLedger | undefined;
  readonly counter: RequestCounter;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called for every request whose key has a plan that is not configured. */
  readonly onUnknownPlan: (identity: Identity) => void;
  readonly settlementWaitMaxMs?: number;
}

/** The limits of an identity, under the names of its counters. */
interface BoundLimits {
  readonly names: ScopeNames;
  readonly thresholds: BoundThresholds;
  readonly isDaily: boolean;
  readonly rates: RateLimits;
}

type Decision = Rejection | undefined | Promise<Rejection | undefined>;

/** Decides whether a request of a known caller may go on to a provider. Takes less than a microsecond; waits only near a daily quota, and for
 *  a shared counter. Spec: gateway, Limits. */
export class UsageGate {
  readonly #options: UsageGateOptions;
  readonly #settlementWaitMaxMs: number;
  /** The limits of an identity, computed once. */
  readonly #limits = new WeakMap<Identity, BoundLimits>();

  constructor(options: UsageGateOptions) {
    this.#options = options;
    this.#settlementWaitMaxMs = options.settlementWaitMaxMs ?? SETTLEMENT_WAIT_MAX_MS;
  }

  /** Undefined: the request is admitted and counted. Daily quotas are checked before request rates. */
  check(identity: Identity): Decision {
    const limits = this.#limits.get(identity) ?? this.#bind(identity);
    if (limits === undefined) return LIMIT_CHECK_UNAVAILABLE;
    if (limits.isDaily) {
      const decision = this.#checkQuotas(limits);
      if (decision !== undefined) return decision;
    }
    return this.#checkRates(limits);
  }

  /** Undefined: no quota is reached, and the rates are still to be checked. */
  #checkQuotas(limits: BoundLimits, mayWait = true): Decision {
    const { ledger, clock } = this.#options;
    const accounts = ledger?.accountsOf(limits.names);
    if (accounts === undefined) {
      if (!mayWait || ledger?.awaitsTotals !== true) return LIMIT_CHECK_UNAVAILABLE;
      // The clock was set to another day; reading that day's totals takes some milliseconds.
      return ledger.totals(this.#settlementWaitMaxMs).then(() => this.#checkQuotas(limits, false) ?? this.#checkRates(limits));
    }
    const code = checkQuotas(accounts, limits.thresholds);
    if (code === undefined) return undefined;
    if (code !== 'unsettled') return quotaRejection(code, clock());
    return ledger
      ?.settlement(accounts, this.#settlementWaitMaxMs)
      .then((isSettled) => (isSettled ? this.#checkSettled(limits) : LIMIT_CHECK_UNAVAILABLE));
  }

  /** Exchanges that ended while the request waited were in flight when it came, and do not delay it again. */
  #checkSettled(limits: BoundLimits): Decision {
    const { ledger, clock } = this.#options;
    const accounts = ledger?.accountsOf(limits.names);
    if (accounts === undefined) return LIMIT_CHECK_UNAVAILABLE;
    const code = checkQuotas(accounts, limits.thresholds, true);
    return code === undefined || code === 'unsettled' ? this.#checkRates(limits) : quotaRejection(code, clock());
  }

  #checkRates({ names, rates }: BoundLimits): Decision {
    if (rates.key === 0 && rates.workspace === 0) return undefined;
    const result = this.#options.counter.admit(names, rates);
    return result instanceof Promise ? result.then(rejectionOf) : rejectionOf(result);
  }

  #bind(identity: Identity): BoundLimits | undefined {
    const thresholds = this.#options.thresholds.of(identity);
    if (thresholds === undefined) {
      this.#options.onUnknownPlan(identity);
      return undefined;
    }
    const { key, workspace } = thresholds;
    const limits: BoundLimits = {
      names: scopeNames(identity.org_id, identity.workspace_id, identity.key_id),
      thresholds,
      isDaily: isDaily(key) || isDaily(workspace),
      rates: { key: key.requestsPerMinute, workspace: workspace.requestsPerMinute },
    };
    this.#limits.set(identity, limits);
    return limits;
  }
}

function rejectionOf(result: RateResult): Rejection | undefined {
  if (result === undefined) return undefined;
  if (result === 'unavailable') return LIMIT_CHECK_UNAVAILABLE;
  const code = result.scope === 'key' ? 'KEY_RATE_LIMIT_EXCEEDED' : 'WORKSPACE_RATE_LIMIT_EXCEEDED';
  return rateRejection(code, result.waitMs);
}
