import type { Rejection } from '@vitrine/http-api/rejection';
import { DAY_MS } from '@vitrine/traces/time-buckets';

// Statuses, texts, codes and headers. Spec: G10.9 to G10.15, G10.19.

const RATE_ERRORS = {
  KEY_RATE_LIMIT_EXCEEDED: 'request rate limit exceeded for key',
  WORKSPACE_RATE_LIMIT_EXCEEDED: 'request rate limit exceeded for workspace',
} as const;

const QUOTA_ERRORS = {
  KEY_DAILY_TOKENS_EXCEEDED: 'daily token limit exceeded for key',
  WORKSPACE_DAILY_TOKENS_EXCEEDED: 'daily token limit exceeded for workspace',
  KEY_DAILY_COST_EXCEEDED: 'daily cost limit exceeded for key',
  WORKSPACE_DAILY_COST_EXCEEDED: 'daily cost limit exceeded for workspace',
} as const;
export type QuotaCode = keyof typeof QUOTA_ERRORS;

/** The usage is unknown. A request that cannot be checked is rejected. Spec: G10.9. */
export const LIMIT_CHECK_UNAVAILABLE: Rejection = {
  status: 503,
  error: 'gateway usage limit check unavailable',
  reason: 'limit_check_unavailable',
};

/** The key or its workspace has a plan that does not exist. The text names the plan, and official SDKs do not retry. */
export function unknownPlanRejection(plan: string): Rejection {
  return {
    ...LIMIT_CHECK_UNAVAILABLE,
    error: `${LIMIT_CHECK_UNAVAILABLE.error}: there is no plan "${plan}"`,
    details: { code: 'UNKNOWN_PLAN', plan },
    headers: ['x-should-retry', 'false'],
  };
}

/** The cost of a request would be unknown. `model`: as requested, if it could be read. */
export function unknownCostRejection(because: string, model?: string): Rejection {
  const code = 'UNKNOWN_COST_REFUSED';
  return {
    status: 403,
    error: `request of unknown cost refused${model === undefined ? '' : ` (${model})`}: ${because}`,
    details: { code, model },
    headers: ['x-should-retry', 'false'],
    reason: code,
  };
}

/** A request rate is exceeded for another `waitMs`. */
export function rateRejection(code: keyof typeof RATE_ERRORS, waitMs: number): Rejection {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return {
    status: 429,
    error: RATE_ERRORS[code],
    details: { code, retry_after_seconds: seconds },
    headers: ['Retry-After', String(seconds)],
    reason: code,
  };
}

/** A daily quota is used up: its headers keep the official SDKs from retrying and give the time of the reset. `nowMs`: milliseconds since
 *  the epoch. */
export function quotaRejection(code: QuotaCode, nowMs: number): Rejection {
  const midnight = new Date((Math.floor(nowMs / DAY_MS) + 1) * DAY_MS).toISOString().replace('.000', '');
  return {
    status: 429,
    error: QUOTA_ERRORS[code],
    details: { code },
    headers: ['x-should-retry', 'false', 'X-Svc-Quota-Resets-At', midnight],
    reason: code,
  };
}

/** Other processes have reserved the rest of a daily quota, and may return some of it with their next report. */
export function reservedQuotaRejection(code: QuotaCode): Rejection {
  return { status: 429, error: QUOTA_ERRORS[code], details: { code }, headers: ['Retry-After', '1'], reason: code };
}
