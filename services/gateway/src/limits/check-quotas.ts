import type { DayAccount, ScopeAccounts } from './day-accounts.ts';
import type { QuotaCode } from './limit-rejections.ts';
import type { BoundThresholds } from './thresholds.ts';

/** Whether a daily quota is reached: by settled usage, or, as `unsettled`, possibly by exchanges that have ended and whose usage is not
 *  known yet; `isSettled` leaves these out. The first exceeded quota in the specification's order decides.
 *  Spec: gateway, Limits, rules 3 to 5. */
export function checkQuotas(
  { key, workspace }: ScopeAccounts,
  bound: BoundThresholds,
  isSettled = false,
): QuotaCode | 'unsettled' | undefined {
  return (
    checkQuota(key, 'tokens', bound.key.tokensPerDay, isSettled, 'KEY_DAILY_TOKENS_EXCEEDED') ??
    checkQuota(key, 'picoUsd', bound.key.picoUsdPerDay, isSettled, 'KEY_DAILY_COST_EXCEEDED') ??
    checkQuota(workspace, 'tokens', bound.workspace.tokensPerDay, isSettled, 'WORKSPACE_DAILY_TOKENS_EXCEEDED') ??
    checkQuota(workspace, 'picoUsd', bound.workspace.picoUsdPerDay, isSettled, 'WORKSPACE_DAILY_COST_EXCEEDED')
  );
}

function checkQuota(
  { own, others, largest, unsettled }: DayAccount,
  what: 'tokens' | 'picoUsd',
  limit: number,
  isSettled: boolean,
  code: QuotaCode,
): QuotaCode | 'unsettled' | undefined {
  if (limit === 0) return undefined;
  const usage = own[what] + others[what];
  if (usage >= limit) return code;
  if (isSettled || unsettled === 0) return undefined;
  // Exchanges without tokens allow no estimate of later ones.
  const isUnknown = largest.tokens === 0;
  return isUnknown || usage + unsettled * largest[what] >= limit ? 'unsettled' : undefined;
}
