import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { LivePlans } from './plans/live-plans.ts';
import { canHaveDailyLimits, ineffectiveLimits, ThresholdTable } from './thresholds.ts';
import { allowAll, UsageGate, type Gate } from './usage-gate.ts';
import { openQuotas, openRequestCounter, type LimitsContext } from './open-counters.ts';
import type { QuotaCheck } from './quotas/quota-check.ts';
import type { LimitsSettings } from './limits-config.ts';

/** Unknown plans are logged at most this often. */
const UNKNOWN_PLAN_REPORT_INTERVAL_MS = 10_000;

const WHY_UNAVAILABLE = 'docs/failure-modes.md#503-gateway-usage-limit-check-unavailable';
/** Without daily limits no quota is checked. */
const NO_QUOTAS: QuotaCheck = { check: () => 'unavailable' };

/** Opens the usage limits as configured, which follow the changes of live plans. With authentication off nothing is limited, because callers
 *  are unknown; without daily limits the store is never read. A store that cannot be read does not keep the gateway from starting.
 *  Spec: G1.4, G10.3, G10.7. */
export async function openLimits(
  config: LimitsSettings,
  { plans, ...tools }: Omit<LimitsContext, 'hasDaily'> & { readonly plans?: LivePlans | undefined },
) {
  const { logger, clock, steadyClock } = tools;
  for (const sentence of ineffectiveLimits(config)) logger.warn(sentence);
  if (!config.auth.enabled) return { gate: allowAll, ledger: undefined, [Symbol.asyncDispose]: async () => {} };
  const currentThresholds = () => new ThresholdTable(config.limits, config.plans, plans?.applied);
  let thresholds = currentThresholds();
  const { counters } = config.limits;
  const unknownPlans = unknownPlanLog(logger, steadyClock);
  const rates = openRequestCounter(counters, tools);
  const hasDaily = () => thresholds.hasDaily;
  const daily = canHaveDailyLimits(config) ? await openQuotas(config.limits, { ...tools, hasDaily }) : undefined;
  const gate = new UsageGate({
    thresholds,
    quotas: daily?.counter ?? NO_QUOTAS,
    counter: rates.counter,
    clock,
    onUnknownPlan: (identity, plan) => unknownPlans.add('', { identity, plan }),
  });
  const apply = () => {
    const hadDaily = thresholds.hasDaily;
    thresholds = currentThresholds();
    if (thresholds.hasDaily && !hadDaily) daily?.refresh();
    gate.apply(thresholds);
  };
  if (plans !== undefined) {
    plans.onChange = apply;
    // The thresholds may have changed while totals were read.
    apply();
  }
  return {
    gate: ((identity) => gate.check(identity)) satisfies Gate,
    /** The trace queue reports ended and written exchanges to it; undefined without daily limits. */
    ledger: daily?.counter,
    [Symbol.asyncDispose]: async () => {
      if (plans !== undefined) plans.onChange = () => {};
      unknownPlans[Symbol.dispose]();
      // Both send a last report to the database, which may be unavailable.
      await Promise.all([rates[Symbol.asyncDispose](), daily?.[Symbol.asyncDispose]()]);
    },
  };
}

type UnknownPlanUse = Readonly<{ identity: Identity; plan: string }>;

function unknownPlanLog(logger: Logger, clock: () => number): LogThrottle<UnknownPlanUse> {
  const write = ({ identity: { key_id, org_id, workspace_id }, plan }: UnknownPlanUse, count: number) => {
    const next_step = `create the plan, or take it from the key or workspace: ${WHY_UNAVAILABLE}`;
    logger.error({ key_id, org_id, workspace_id, plan, count, next_step }, 'unknown plan: requests rejected');
  };
  return new LogThrottle(UNKNOWN_PLAN_REPORT_INTERVAL_MS, write, { clock });
}
