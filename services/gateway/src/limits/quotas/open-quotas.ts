import { invariant } from '@vitrine/faults/invariant';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Clocks } from '../../storage/clocks.ts';
import { allotmentTimes } from '../shared-quotas/allotment-ledger.ts';
import type { EndedExchange } from './day-accounts.ts';
import type { LimitsConfig } from '../limits-config.ts';
import type { SharedLimits } from '../requests/open-request-counter.ts';
import { PostgresQuotaGrants } from '../shared-quotas/postgres-quota-grants.ts';
import { ProcessQuotas } from './process-quotas.ts';
import type { QuotaCheck } from './quota-check.ts';
import { keepTotalsFresh, QuotaLedger } from './quota-ledger.ts';
import { SharedQuotas } from '../shared-quotas/shared-quotas.ts';
import { WINDOW_MS } from '../requests/sliding-window.ts';

const ERROR_LOG_INTERVAL_MS = 10_000;
const CLEANUP_INTERVAL_MS = 600_000;
const WHY_UNAVAILABLE = 'docs/failure-modes.md#503-gateway-usage-limit-check-unavailable';
const AFTER_FAILED_READ =
  'look at err and at the disk of storage.path; totals are read every 4 s, and requests of keys with daily limits are rejected 15 s ' +
  `after the last successful read: ${WHY_UNAVAILABLE}`;
const AFTER_FAILED_REPORT =
  'check the database of storage.dsn; requests of keys with daily limits are admitted by what this process holds, for 10 s at most, then ' +
  `rejected: ${WHY_UNAVAILABLE}`;

/** Learns of the exchanges of this process: of each that has ended, and in the same order of their usage. */
export interface QuotaUsage {
  taken(exchange: EndedExchange): void;
  /** The oldest `count` of those taken are written, with this usage, or dropped. */
  settled(count: number, usage: readonly DayUsage[]): void;
}

interface OpenQuotas extends AsyncDisposable {
  readonly quotas: QuotaCheck;
  readonly usage: QuotaUsage;
  /** Daily limits begin to apply: totals that were not needed until now are read, and checks wait for them. */
  readonly refresh: () => void;
}

export interface LimitsContext extends Clocks {
  /** The stored usage of all keys on a UTC day, `YYYY-MM-DD`. */
  readonly totals: (day: string) => Promise<readonly DayUsage[]>;
  /** Whether anybody has a daily limit at the moment: otherwise no totals are read. */
  readonly hasDaily: () => boolean;
  readonly logger: Logger;
  /** Needed where `limits.counters` is `shared`. */
  readonly shared?: SharedLimits | undefined;
}

/** Opens the daily quotas as configured. A store that cannot be read does not keep the gateway from starting. */
export async function openQuotas(kind: LimitsConfig['counters'], context: LimitsContext): Promise<OpenQuotas> {
  if (kind === 'process') return await openProcessQuotas(context);
  invariant(context.shared !== undefined, 'limits.counters is shared, and there is no database');
  return openSharedQuotas(context.shared, context);
}

async function openProcessQuotas({ totals, hasDaily, clock, steadyClock, logger }: LimitsContext): Promise<OpenQuotas> {
  let isOpen = true;
  const onFailedRead = (error: unknown) => {
    if (isOpen) logger.error({ err: error, next_step: AFTER_FAILED_READ }, 'quota totals read failed');
  };
  const ledger = new QuotaLedger({ totals, clock, steadyClock, onFailedRead });
  if (hasDaily()) await ledger.read();
  const fresh = keepTotalsFresh(ledger, hasDaily);
  return {
    quotas: new ProcessQuotas(ledger),
    usage: ledger,
    refresh: () => ledger.refresh(),
    [Symbol.asyncDispose]: async () => {
      isOpen = false;
      fresh[Symbol.dispose]();
    },
  };
}

function openSharedQuotas(
  { pool, windowMs = WINDOW_MS }: SharedLimits,
  { clock, steadyClock, logger }: LimitsContext,
): OpenQuotas {
  const write = (err: unknown, count: number) =>
    logger.error({ err, count, next_step: AFTER_FAILED_REPORT }, 'report of shared quotas failed');
  const errors = new LogThrottle(ERROR_LOG_INTERVAL_MS, write, { clock: steadyClock });
  const onError = (error: unknown) => errors.add('', error);
  const times = allotmentTimes(windowMs);
  const grants = new PostgresQuotaGrants(pool, times.leaseMs);
  const quotas = new SharedQuotas({ grants, clock, steadyClock, onError, ...times });
  const cleanup = setInterval(() => void grants.removeOld().catch(onError), CLEANUP_INTERVAL_MS);
  cleanup.unref();
  return {
    quotas,
    usage: quotas,
    refresh: () => {},
    [Symbol.asyncDispose]: async () => {
      clearInterval(cleanup);
      await quotas[Symbol.asyncDispose]();
      errors[Symbol.dispose]();
    },
  };
}
