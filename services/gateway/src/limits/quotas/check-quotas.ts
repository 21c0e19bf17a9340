import type { DayAccount, ScopeAccounts } from './day-accounts.ts';
import type { QuotaCode } from '../limit-rejections.ts';
import type { BoundThresholds } from '../thresholds.ts';

export type QuotaUnit = 'tokens' | 'picoUsd';

/** Undefined: the quota is not reached. */
type CheckQuota<T> = (scope: 'key' | 'workspace', unit: QuotaUnit, limit: number, code: QuotaCode) => T | undefined;

/** The result of the first quota that has one, in the order of the specification. A limit of 0 is none. Spec: G10.4, G10.6. */
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

/** Whether exchanges that have ended may bring `usage` to `limit`. */
export function mayReach({ unsettled, largest }: DayAccount, unit: QuotaUnit, usage: number, limit: number): boolean {
  if (unsettled === 0) return false;
  // Exchanges without tokens allow no estimate of later ones.
  return largest.tokens === 0 || usage + unsettled * largest[unit] >= limit;
}
