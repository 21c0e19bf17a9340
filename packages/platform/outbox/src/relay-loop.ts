import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import { backoffMs } from '@vitrine/postgres/backoff';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import { setTimeout as wait } from 'node:timers/promises';

const BACKOFF = { firstMs: 100, maxMs: 5_000 };
const LOG_INTERVAL_MS = 10_000;

/** The part of a logger that relays need. */
export interface OutboxLogger {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** `more`: go on at once; `idle`: nothing is there; `unavailable`: try again later. */
export type RelayPass = 'more' | 'idle' | 'unavailable';

interface RelayLoopOptions {
  readonly pass: () => Promise<RelayPass>;
  /** Of a pass that was rejected. */
  readonly onError: (error: unknown) => void;
  /** How long an idle relay waits before it looks again. */
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

/** Runs passes one after the other until `signal` is aborted; after a failure it waits, up to 5 s. Never rejects. */
export async function runRelay({ pass, onError, pollMs, signal }: RelayLoopOptions): Promise<void> {
  let failures = 0;
  const next = () =>
    pass().catch((error: unknown): RelayPass => {
      onError(error);
      return 'unavailable';
    });
  while (!signal.aborted) {
    const result = await next();
    failures = result === 'unavailable' ? failures + 1 : 0;
    if (result === 'more') continue;
    const pauseMs = result === 'idle' ? pollMs : backoffMs(failures - 1, BACKOFF, Math.random());
    await wait(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** One line per kind of failure in 10 s. */
export function failureLog(logger: OutboxLogger): LogThrottle<{ readonly err: unknown; readonly message: string }> {
  return new LogThrottle(LOG_INTERVAL_MS, ({ err, message }, failures) =>
    logger.warn({ ...databaseErrorFields(err), failures }, message),
  );
}
