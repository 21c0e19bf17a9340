import { invariant } from '@vitrine/faults/invariant';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Clocks } from '../storage/clocks.ts';
import type { LimitsConfig } from './limits-config.ts';
import type { DailyQuotas } from './quotas/quota-check.ts';
import { keepTotalsFresh, QuotaLedger } from './quotas/quota-ledger.ts';
import { InMemoryRequestCounter } from './requests/in-memory-request-counter.ts';
import type { RequestCounter } from './requests/request-counter.ts';
import { SharedRequestCounter } from './requests/shared-request-counter.ts';
import { WINDOW_MS } from './requests/sliding-window.ts';
import { allotmentTimes } from './shared-quotas/allotment-ledger.ts';
import { PostgresAllotmentLedger } from './shared-quotas/postgres-allotment-ledger.ts';
import { PostgresQuotaGrants } from './shared-quotas/postgres-quota-grants.ts';
import { SharedQuotas } from './shared-quotas/shared-quotas.ts';

const ERROR_LOG_INTERVAL_MS = 10_000;
const WHY_UNAVAILABLE = 'docs/failure-modes.md#503-gateway-usage-limit-check-unavailable';
const AFTER_FAILED_READ =
  'look at err and at the disk of storage.path; totals are read every 4 s, and requests of keys with daily limits are rejected 15 s ' +
  `after the last successful read: ${WHY_UNAVAILABLE}`;

const RATE_REPORTS = {
  cleanupIntervalMs: 60_000,
  message: 'report of shared limits failed',
  next_step:
    'check the database of storage.dsn; requests are admitted from the quota of this process, for 10 s at most, then rejected: ' +
    WHY_UNAVAILABLE,
};
const QUOTA_REPORTS = {
  cleanupIntervalMs: 600_000,
  message: 'report of shared quotas failed',
  next_step:
    'check the database of storage.dsn; requests of keys with daily limits are admitted from the quota of this process, for 10 s at most, then ' +
    `rejected: ${WHY_UNAVAILABLE}`,
};

/** The database over which processes share their limits. */
export interface SharedLimits {
  readonly pool: PostgresPool;
  /** Other than 60 s, for tests that cannot wait a minute. */
  readonly windowMs?: number;
}

export interface LimitsContext extends Clocks {
  /** The stored usage of all keys on a UTC day, `YYYY-MM-DD`. */
  readonly totals: (day: string) => Promise<readonly DayUsage[]>;
  /** Whether any key or workspace can have a daily limit now. If not, no totals are read. */
  readonly hasDaily: () => boolean;
  readonly logger: Logger;
  /** Needed where `limits.counters` is `shared`. */
  readonly shared?: SharedLimits | undefined;
}

interface OpenCounter<C> extends AsyncDisposable {
  readonly counter: C;
}

interface OpenQuotas extends OpenCounter<DailyQuotas> {
  /** Called when daily limits begin to apply. Reads the totals, and checks wait for them. */
  readonly refresh: () => void;
}

/** Opens the counter of request rates as configured. */
export function openRequestCounter(
  kind: LimitsConfig['counters'],
  context: Omit<LimitsContext, 'hasDaily'>,
): OpenCounter<RequestCounter> {
  const { steadyClock: clock } = context;
  if (kind === 'process') return { counter: new InMemoryRequestCounter(clock), [Symbol.asyncDispose]: async () => {} };
  return openShared(context, RATE_REPORTS, ({ pool, windowMs = WINDOW_MS }, onError) => {
    const times = allotmentTimes(windowMs);
    const ledger = new PostgresAllotmentLedger(pool, times);
    const counter = new SharedRequestCounter({ ledger, clock, onError, ...times });
    return { counter, cleanUp: () => ledger.removeExpired() };
  });
}

/** Opens the daily quotas as configured. A store that cannot be read does not keep the gateway from starting. */
export async function openQuotas(
  { counters, unknown }: Pick<LimitsConfig, 'counters' | 'unknown'>,
  context: LimitsContext,
): Promise<OpenQuotas> {
  const countsUnknown = unknown !== 'allow';
  if (counters === 'process') return await openProcessQuotas(context, countsUnknown);
  const { clock, steadyClock } = context;
  const opened = openShared(context, QUOTA_REPORTS, ({ pool, windowMs = WINDOW_MS }, onError) => {
    const times = allotmentTimes(windowMs);
    const grants = new PostgresQuotaGrants(pool, times.leaseMs, countsUnknown);
    const counter = new SharedQuotas({ grants, clock, steadyClock, onError, countsUnknown, ...times });
    return { counter, cleanUp: () => grants.removeOld() };
  });
  return { ...opened, refresh: () => {} };
}

async function openProcessQuotas(
  { totals, hasDaily, clock, steadyClock, logger }: LimitsContext,
  countsUnknown: boolean,
): Promise<OpenQuotas> {
  let isOpen = true;
  const onFailedRead = (error: unknown) => {
    if (isOpen) logger.error({ err: error, next_step: AFTER_FAILED_READ }, 'quota totals read failed');
  };
  const counter = new QuotaLedger({ totals, clock, steadyClock, onFailedRead, countsUnknown });
  if (hasDaily()) await counter.read();
  const fresh = keepTotalsFresh(counter, hasDaily);
  return {
    counter,
    refresh: () => counter.refresh(),
    [Symbol.asyncDispose]: async () => {
      isOpen = false;
      fresh[Symbol.dispose]();
    },
  };
}

/** Opens a counter that reports to the database. Failed reports are logged, and old rows are removed at an interval. */
function openShared<C extends AsyncDisposable>(
  { shared, logger, steadyClock: clock }: Pick<LimitsContext, 'shared' | 'logger' | 'steadyClock'>,
  { cleanupIntervalMs, message, next_step }: typeof RATE_REPORTS,
  open: (
    shared: SharedLimits,
    onError: (error: unknown) => void,
  ) => { readonly counter: C; readonly cleanUp: () => Promise<void> },
): OpenCounter<C> {
  invariant(shared !== undefined, 'limits.counters is shared, and there is no database');
  const write = (err: unknown, count: number) => logger.error({ err, count, next_step }, message);
  const errors = new LogThrottle(ERROR_LOG_INTERVAL_MS, write, { clock });
  const onError = (error: unknown) => errors.add('', error);
  const { counter, cleanUp } = open(shared, onError);
  const cleanup = setInterval(() => void cleanUp().catch(onError), cleanupIntervalMs).unref();
  return {
    counter,
    [Symbol.asyncDispose]: async () => {
      clearInterval(cleanup);
      await counter[Symbol.asyncDispose]();
      errors[Symbol.dispose]();
    },
  };
}
