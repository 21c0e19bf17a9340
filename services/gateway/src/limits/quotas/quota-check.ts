import type { DayUsage } from '@vitrine/traces/day-usage';
import type { DayAccount, EndedExchange, ScopeAccounts } from './day-accounts.ts';
import type { QuotaCode } from '../limit-rejections.ts';
import type { ScopeNames } from '../requests/request-counter.ts';
import type { BoundThresholds } from '../thresholds.ts';

/** A reached quota. */
export interface ReachedQuota {
  readonly code: QuotaCode;
  /** Whether it is used up for the day. Otherwise other processes have reserved what is left, and may return some of it within a second. */
  readonly isUsedUp: boolean;
}

/** Undefined: no quota is reached. */
export type QuotaResult = ReachedQuota | 'unavailable' | undefined;

/** Checks the daily quotas of a key and its workspace. Returns a promise only when a request has to wait, near a quota or for a database. The
 *  promise resolves within a bound and does not reject. Spec: G10.4 to G10.9. */
export interface QuotaCheck {
  check(names: ScopeNames, thresholds: BoundThresholds): QuotaResult | Promise<QuotaResult>;
}

/** Receives each ended exchange of this process, and later their usage in the same order. */
interface QuotaUsage {
  /** The trace queue has taken an exchange, which is unsettled from now on. */
  taken(exchange: EndedExchange): void;
  /** The oldest `count` of those taken are written, with this usage, or dropped. */
  settled(count: number, usage: readonly DayUsage[]): void;
}

export interface DailyQuotas extends QuotaCheck, QuotaUsage {}

export type QuotaUnit = 'tokens' | 'picoUsd';

/** Undefined: the quota is not reached. */
type CheckQuota<T> = (scope: 'key' | 'workspace', unit: QuotaUnit, limit: number, code: QuotaCode) => T | undefined;

/** The result of the first quota that has one, in the order of the specification. 0 is no limit. Spec: G10.4, G10.6. */
export function firstQuota<T>({ key, workspace }: BoundThresholds, check: CheckQuota<T>): T | undefined {
  return (
    (key.tokensPerDay > 0 ? check('key', 'tokens', key.tokensPerDay, 'KEY_DAILY_TOKENS_EXCEEDED') : undefined) ??
    (key.picoUsdPerDay > 0 ? check('key', 'picoUsd', key.picoUsdPerDay, 'KEY_DAILY_COST_EXCEEDED') : undefined) ??
    (workspace.tokensPerDay > 0
      ? check('workspace', 'tokens', workspace.tokensPerDay, 'WORKSPACE_DAILY_TOKENS_EXCEEDED')
      : undefined) ??
    (workspace.picoUsdPerDay > 0
      ? check('workspace', 'picoUsd', workspace.picoUsdPerDay, 'WORKSPACE_DAILY_COST_EXCEEDED')
      : undefined)
  );
}

/** Whether a daily quota is reached: by settled usage, or, as `unsettled`, possibly by exchanges that have ended and whose usage is not
 *  known yet; `isSettled` leaves these out. */
export function checkQuotas(
  accounts: ScopeAccounts,
  bound: BoundThresholds,
  isSettled = false,
): QuotaCode | 'unsettled' | undefined {
  return firstQuota(bound, (scope, unit, limit, code) => {
    const account = accounts[scope];
    const usage = account.own[unit] + account.others[unit];
    if (usage >= limit) return code;
    return !isSettled && mayReach(account, unit, usage, limit) ? 'unsettled' : undefined;
  });
}

/** Whether ended exchanges may raise `usage` to `limit`. */
export function mayReach({ unsettled, largest }: DayAccount, unit: QuotaUnit, usage: number, limit: number): boolean {
  if (unsettled === 0) return false;
  // Exchanges without tokens allow no estimate of later ones.
  return largest.tokens === 0 || usage + unsettled * largest[unit] >= limit;
}
