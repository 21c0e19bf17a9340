import type { QuotaCode } from '../limit-rejections.ts';
import type { ScopeNames } from '../scope-names.ts';
import type { BoundThresholds } from '../thresholds.ts';

/** A quota that is reached. */
export interface ReachedQuota {
  readonly code: QuotaCode;
  /** Whether it is used up for the day. Otherwise other processes have reserved what is left, and may return some of it within a second. */
  readonly isUsedUp: boolean;
}

/** Undefined: no quota is reached. */
export type QuotaResult = ReachedQuota | 'unavailable' | undefined;

/** Checks the daily quotas of a key and its workspace. Responds with a promise only where a request has to wait, near a quota or for a
 *  database; the promise resolves within a bound and does not reject. Spec: G10.4 to G10.9. */
export interface QuotaCheck {
  /** Always the same `names` for one identity. */
  check(names: ScopeNames, thresholds: BoundThresholds): QuotaResult | Promise<QuotaResult>;
}
