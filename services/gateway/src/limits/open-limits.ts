import type { Identity } from '@vitrine/gateway-keys/identity';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { openGate, type Gate } from './gate.ts';
import { ineffectiveLimits } from './ineffective-limits.ts';
import { openRequestCounter, type SharedLimits } from './open-request-counter.ts';
import { keepTotalsFresh, QuotaLedger } from './quota-ledger.ts';
import { ThresholdTable } from './thresholds.ts';
import { UsageGate } from './usage-gate.ts';
import type { LimitsSettings } from './limits-config.ts';

/** Unknown plans are logged at most this often. */
const UNKNOWN_PLAN_REPORT_INTERVAL_MS = 10_000;

const WHY_UNAVAILABLE = 'docs/failure-modes.md#503-gateway-usage-limit-check-unavailable';
const AFTER_FAILED_READ =
  'look at err and at the disk of storage.path; totals are read every 4 s, and requests of keys with daily limits are rejected 15 s ' +
  `after the last successful read: ${WHY_UNAVAILABLE}`;

export interface Clocks {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds on a monotonic clock. */
  readonly steadyClock: () => number;
}

export interface LimitsContext extends Clocks {
  /** The stored usage of all keys on a UTC day, `YYYY-MM-DD`. */
  readonly totals: (day: string) => Promise<readonly DayUsage[]>;
  readonly logger: Logger;
  /** Needed where `limits.counters` is `shared`. */
  readonly shared?: SharedLimits | undefined;
}

export interface OpenLimits extends AsyncDisposable {
  readonly gate: Gate;
  /** The trace queue reports ended and written exchanges to it; undefined without daily limits. */
  readonly ledger: QuotaLedger | undefined;
}

/** Whether a key or workspace can have a daily limit, so that usage has to be counted while it is written. */
export function hasDailyLimits({ auth, limits, plans }: LimitsSettings): boolean {
  return auth.enabled && new ThresholdTable(limits, plans).hasDaily;
}

/** Opens the usage limits as configured. With authentication off nothing is limited, because callers are unknown; without daily limits the
 *  store is never read. A store that cannot be read does not keep the gateway from starting. Spec: gateway, Limits. */
export async function openLimits(config: LimitsSettings, tools: LimitsContext): Promise<OpenLimits> {
  const { totals, logger, clock, steadyClock } = tools;
  for (const sentence of ineffectiveLimits(config)) logger.warn(sentence);
  if (!config.auth.enabled) return { gate: openGate, ledger: undefined, [Symbol.asyncDispose]: async () => {} };
  const thresholds = new ThresholdTable(config.limits, config.plans);
  let isOpen = true;
  const onFailedRead = (error: unknown) => {
    if (isOpen) logger.error({ err: error, next_step: AFTER_FAILED_READ }, 'quota totals read failed');
  };
  const ledger = hasDailyLimits(config) ? new QuotaLedger({ totals, clock, steadyClock, onFailedRead }) : undefined;
  await ledger?.read();
  const fresh = ledger === undefined ? undefined : keepTotalsFresh(ledger);
  const unknownPlans = unknownPlanLog(logger, steadyClock);
  const opened = openRequestCounter(config.limits.counters, tools);
  const gate = new UsageGate({
    thresholds,
    ledger,
    counter: opened.counter,
    clock,
    onUnknownPlan: (identity) => unknownPlans.add('', identity),
  });
  return {
    gate: (identity) => gate.check(identity),
    ledger,
    [Symbol.asyncDispose]: async () => {
      isOpen = false;
      fresh?.[Symbol.dispose]();
      unknownPlans[Symbol.dispose]();
      await opened[Symbol.asyncDispose]();
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
