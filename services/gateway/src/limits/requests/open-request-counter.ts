import { invariant } from '@vitrine/faults/invariant';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import { allotmentTimes } from '../shared-quotas/allotment-ledger.ts';
import { InMemoryRequestCounter } from './in-memory-request-counter.ts';
import type { LimitsConfig } from '../limits-config.ts';
import { PostgresAllotmentLedger } from '../shared-quotas/postgres-allotment-ledger.ts';
import type { RequestCounter } from './request-counter.ts';
import { SharedRequestCounter } from './shared-request-counter.ts';
import { WINDOW_MS } from './sliding-window.ts';

const ERROR_LOG_INTERVAL_MS = 10_000;
const CLEANUP_INTERVAL_MS = 60_000;
const AFTER_FAILED_REPORT =
  'check the database of storage.dsn; requests are admitted by what this process holds, for 10 s at most, then rejected: ' +
  'docs/failure-modes.md#503-gateway-usage-limit-check-unavailable';

/** What processes share their limits over. */
export interface SharedLimits {
  readonly pool: PostgresPool;
  /** Other than 60 s, for tests that cannot wait a minute. */
  readonly windowMs?: number;
}

interface OpenRequestCounter extends AsyncDisposable {
  readonly counter: RequestCounter;
}

interface RequestCounterContext {
  readonly logger: Logger;
  /** Milliseconds on a monotonic clock. */
  readonly steadyClock: () => number;
  readonly shared?: SharedLimits | undefined;
}

/** Opens the counter of request rates as configured. */
export function openRequestCounter(kind: LimitsConfig['counters'], context: RequestCounterContext): OpenRequestCounter {
  const { steadyClock, shared } = context;
  if (kind === 'process') return { counter: new InMemoryRequestCounter(steadyClock), [Symbol.asyncDispose]: async () => {} };
  invariant(shared !== undefined, 'limits.counters is shared, and there is no database');
  return openSharedCounter(shared, context);
}

function openSharedCounter({ pool, windowMs = WINDOW_MS }: SharedLimits, context: RequestCounterContext): OpenRequestCounter {
  const { logger, steadyClock: clock } = context;
  const write = (err: unknown, count: number) =>
    logger.error({ err, count, next_step: AFTER_FAILED_REPORT }, 'report of shared limits failed');
  const errors = new LogThrottle(ERROR_LOG_INTERVAL_MS, write, { clock });
  const onError = (error: unknown) => errors.add('', error);
  const times = allotmentTimes(windowMs);
  const ledger = new PostgresAllotmentLedger(pool, times);
  const counter = new SharedRequestCounter({ ledger, clock, onError, ...times });
  const cleanup = setInterval(() => void ledger.removeExpired().catch(onError), CLEANUP_INTERVAL_MS);
  cleanup.unref();
  return {
    counter,
    [Symbol.asyncDispose]: async () => {
      clearInterval(cleanup);
      await counter[Symbol.asyncDispose]();
      errors[Symbol.dispose]();
    },
  };
}
