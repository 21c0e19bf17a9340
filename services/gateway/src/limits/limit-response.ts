import { DAY_MS } from './utc-day.ts';

/** Spec: gateway, Errors. */
export type RateCode = 'KEY_RATE_LIMIT_EXCEEDED' | 'WORKSPACE_RATE_LIMIT_EXCEEDED';
export type QuotaCode =
  | 'KEY_DAILY_TOKENS_EXCEEDED'
  | 'WORKSPACE_DAILY_TOKENS_EXCEEDED'
  | 'KEY_DAILY_COST_EXCEEDED'
  | 'WORKSPACE_DAILY_COST_EXCEEDED';

/** Why a request may not pass: a rate is reached for another `waitMs`, a quota until the day ends, or nobody can tell. */
export type LimitRejection =
  | { readonly code: RateCode; readonly waitMs: number }
  | { readonly code: QuotaCode }
  | { readonly code: 'unavailable' };

/** A refusal as the caller gets it; headers are names and values in turn. */
export interface LimitResponse {
  readonly status: 429 | 503;
  readonly body: { readonly error: string; readonly code?: string; readonly retry_after_seconds?: number };
  readonly headers: readonly string[];
}

const ERRORS = {
  KEY_RATE_LIMIT_EXCEEDED: 'request rate limit exceeded for key',
  WORKSPACE_RATE_LIMIT_EXCEEDED: 'request rate limit exceeded for workspace',
  KEY_DAILY_TOKENS_EXCEEDED: 'daily token limit exceeded for key',
  WORKSPACE_DAILY_TOKENS_EXCEEDED: 'daily token limit exceeded for workspace',
  KEY_DAILY_COST_EXCEEDED: 'daily cost limit exceeded for key',
  WORKSPACE_DAILY_COST_EXCEEDED: 'daily cost limit exceeded for workspace',
} as const;

/** What a refused request is answered with. A reached quota tells the official SDKs not to try again, and everybody when its
 *  day ends. `nowMs` is milliseconds since the epoch. Spec: gateway, Errors; decisions, section 5. */
export function limitResponse(refusal: LimitRejection, nowMs: number): LimitResponse {
  const { code } = refusal;
  if (code === 'unavailable') return { status: 503, body: { error: 'gateway usage limit check unavailable' }, headers: [] };
  const error = ERRORS[code];
  if ('waitMs' in refusal) {
    const seconds = Math.max(1, Math.ceil(refusal.waitMs / 1_000));
    return { status: 429, body: { error, code, retry_after_seconds: seconds }, headers: ['Retry-After', String(seconds)] };
  }
  const midnight = new Date((Math.floor(nowMs / DAY_MS) + 1) * DAY_MS).toISOString().replace('.000', '');
  return { status: 429, body: { error, code }, headers: ['x-should-retry', 'false', 'X-Svc-Quota-Resets-At', midnight] };
}
