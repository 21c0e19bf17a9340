import type { Identity } from '@vitrine/gateway-keys/identity';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import { openGate, type Gate } from './gate.ts';
import { ineffectiveLimits } from './ineffective-limits.ts';
import { openQuotas, type LimitsContext, type QuotaUsage } from './open-quotas.ts';
import { openRequestCounter } from './open-request-counter.ts';
import type { QuotaCheck } from './quota-check.ts';
import { ThresholdTable } from './thresholds.ts';
import { UsageGate } from './usage-gate.ts';
import type { LimitsSettings } from './limits-config.ts';

/** Unknown plans are logged at most this often. */
const UNKNOWN_PLAN_REPORT_INTERVAL_MS = 10_000;

const WHY_UNAVAILABLE = 'docs/failure-modes.md#503-gateway-usage-limit-check-unavailable';
/** Without daily limits no quota is checked. */
const NO_QUOTAS: QuotaCheck = { check: () => 'unavailable' };

export interface OpenLimits extends AsyncDisposable {
  readonly gate: Gate;
  /** The trace queue reports ended and written exchanges to it; undefined without daily limits. */
  readonly ledger: QuotaUsage | undefined;
}

/** Whether a key or workspace can have a daily limit, so that usage has to be counted while it is written. */
export function hasDailyLimits({ auth, limits, plans }: LimitsSettings): boolean {
  return auth.enabled && new ThresholdTable(limits, plans).hasDaily;
}

/** Opens the usage limits as configured. With authentication off nothing is limited, because callers are unknown; without daily limits the
 *  store is never read. A store that cannot be read does not keep the gateway from starting. Spec: gateway, Limits. */
export async function openLimits(config: LimitsSettings, tools: LimitsContext): Promise<OpenLimits> {
  const { logger, clock, steadyClock } = tools;
  for (const sentence of ineffectiveLimits(config)) logger.warn(sentence);
  if (!config.auth.enabled) return { gate: openGate, ledger: undefined, [Symbol.asyncDispose]: async () => {} };
  const thresholds = new ThresholdTable(config.limits, config.plans);
  const { counters } = config.limits;
  const unknownPlans = unknownPlanLog(logger, steadyClock);
  const rates = openRequestCounter(counters, tools);
  const daily = thresholds.hasDaily ? await openQuotas(counters, tools) : undefined;
  const gate = new UsageGate({
    thresholds,
    quotas: daily?.quotas ?? NO_QUOTAS,
    counter: rates.counter,
    clock,
    onUnknownPlan: (identity) => unknownPlans.add('', identity),
  });
  return {
    gate: (identity) => gate.check(identity),
    ledger: daily?.usage,
    [Symbol.asyncDispose]: async () => {
      unknownPlans[Symbol.dispose]();
      // Both report to the database for the last time, which may be away.
      await Promise.all([rates[Symbol.asyncDispose](), daily?.[Symbol.asyncDispose]()]);
    },
  };
}

function unknownPlanLog(logger: Logger, clock: () => number): LogThrottle<Identity> {
  const write = ({ key_id, plan, workspace_plan }: Identity, count: number) => {
    const next_step = `add the plan to plans and restart, or take it from the key: ${WHY_UNAVAILABLE}`;
    logger.error({ key_id, plan, workspace_plan, count, next_step }, 'unknown plan: requests rejected');
  };
  return new LogThrottle(UNKNOWN_PLAN_REPORT_INTERVAL_MS, write, { clock });
}
