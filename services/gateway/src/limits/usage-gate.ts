import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import type { Rejection } from '@vitrine/http-api/rejection';
import {
  LIMIT_CHECK_UNAVAILABLE,
  quotaRejection,
  rateRejection,
  reservedQuotaRejection,
  unknownPlanRejection,
} from './limit-rejections.ts';
import type { QuotaCheck, QuotaResult } from './quotas/quota-check.ts';
import {
  scopeNames,
  type RateLimits,
  type RateResult,
  type RequestCounter,
  type ScopeNames,
} from './requests/request-counter.ts';
import { isDaily, type BoundThresholds, type ThresholdTable, type UnknownPlan } from './thresholds.ts';

/** Applies usage limits between authentication and forwarding, once per request of a known caller. Undefined admits the request. A promise delays
 *  it. It must resolve within a bound and must not reject. */
export type Gate = (caller: Identity) => Rejection | undefined | Promise<Rejection | undefined>;

/** Admits every request. */
export const allowAll: Gate = () => undefined;

interface UsageGateOptions {
  readonly thresholds: ThresholdTable;
  readonly quotas: QuotaCheck;
  readonly counter: RequestCounter;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called for every request whose key or workspace has a plan that does not exist. */
  readonly onUnknownPlan: (identity: Identity, plan: string) => void;
}

/** The limits of an identity, under the names of its counters. */
interface BoundLimits {
  readonly names: ScopeNames;
  readonly thresholds: BoundThresholds;
  readonly isDaily: boolean;
  readonly rates: RateLimits;
}

type Decision = Rejection | undefined | Promise<Rejection | undefined>;

/** Decides whether a request of a known caller may go on to a provider. Takes less than a microsecond. Waits only near a daily quota and for
 *  shared limits. Spec: G10.3 to G10.6. */
export class UsageGate {
  readonly #options: UsageGateOptions;
  #thresholds: ThresholdTable;
  /** The limits of an identity, computed once for these thresholds. */
  #limits = new WeakMap<Identity, BoundLimits>();

  constructor(options: UsageGateOptions) {
    this.#options = options;
    this.#thresholds = options.thresholds;
  }

  /** These apply from the next request on, also to requests counted before. */
  apply(thresholds: ThresholdTable): void {
    this.#thresholds = thresholds;
    this.#limits = new WeakMap();
  }

  /** Undefined: the request is admitted and counted. Daily quotas are checked before request rates. */
  check(identity: Identity): Decision {
    const limits = this.#limits.get(identity) ?? this.#bind(identity);
    if ('unknownPlan' in limits) return unknownPlanRejection(limits.unknownPlan);
    if (!limits.isDaily) return this.#checkRates(limits);
    const result = this.#options.quotas.check(limits.names, limits.thresholds);
    return result instanceof Promise ? result.then((late) => this.#afterQuotas(limits, late)) : this.#afterQuotas(limits, result);
  }

  #afterQuotas(limits: BoundLimits, result: QuotaResult): Decision {
    if (result === undefined) return this.#checkRates(limits);
    if (result === 'unavailable') return LIMIT_CHECK_UNAVAILABLE;
    return result.isUsedUp ? quotaRejection(result.code, this.#options.clock()) : reservedQuotaRejection(result.code);
  }

  #checkRates({ names, rates }: BoundLimits): Decision {
    if (rates.key === 0 && rates.workspace === 0) return undefined;
    const result = this.#options.counter.admit(names, rates);
    return result instanceof Promise ? result.then(rejectionOf) : rejectionOf(result);
  }

  #bind(identity: Identity): BoundLimits | UnknownPlan {
    const thresholds = this.#thresholds.of(identity);
    if ('unknownPlan' in thresholds) {
      this.#options.onUnknownPlan(identity, thresholds.unknownPlan);
      return thresholds;
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
