import { messageOf } from '@vitrine/faults/fault';
import { setTimeout as wait } from 'node:timers/promises';
import { backoffMs } from './backoff.ts';
import { databaseErrorFields } from './database-error-fields.ts';
import type { PostgresAddress } from './dsn.ts';
import type { PostgresPool } from './postgres-pool.ts';
import { classifyPostgresError } from './postgres-error.ts';

const BACKOFF = { firstMs: 100, maxMs: 5_000 };
/** How often the log repeats that the process waits for the database. */
const LOG_INTERVAL_MS = 10_000;

/** Fields of the log line of a wait. */
export interface WaitFields extends PostgresAddress {
  readonly waited_ms: number;
  readonly err?: unknown;
  readonly error_class?: string;
  readonly next_step?: string;
}

/** The part of a logger that is needed. */
export interface WaitLogger {
  info(fields: WaitFields, message: string): void;
  warn(fields: WaitFields, message: string): void;
}

interface DatabaseWait {
  readonly logger: WaitLogger;
  readonly signal: AbortSignal;
  /** Called after each attempt: why the database cannot be used; undefined when it can. */
  readonly onAttempt?: (reason: string | undefined) => void;
  /** The check that must succeed; by default any statement. */
  readonly probe?: (pool: PostgresPool) => Promise<unknown>;
  /** Errors of the probe that may go away by waiting; by default those of an unavailable database. */
  readonly isAwaited?: (error: unknown) => boolean;
}

const isAway = (error: unknown): boolean => ['connection', 'timeout'].includes(classifyPostgresError(error));

/** Waits until the database responds, and logs that it waits. Resolves to false when `signal` is aborted before. Throws permanent errors. */
export async function waitForDatabase(pool: PostgresPool, options: DatabaseWait): Promise<boolean> {
  const { logger, signal, onAttempt, probe = (of) => of.query('SELECT 1'), isAwaited = isAway } = options;
  const startedAt = performance.now();
  let loggedAt = Number.NEGATIVE_INFINITY;
  for (let retry = 0; !signal.aborted; retry += 1) {
    try {
      await probe(pool);
      onAttempt?.(undefined);
      if (retry > 0) logger.info(fieldsOf(pool.address, startedAt), 'database reached');
      return true;
    } catch (err) {
      if (!isAwaited(err)) throw err;
      onAttempt?.(waitingReason(err));
      if (performance.now() - loggedAt >= LOG_INTERVAL_MS) {
        loggedAt = performance.now();
        logger.warn({ ...fieldsOf(pool.address, startedAt), ...databaseErrorFields(err) }, 'waiting for the database');
      }
    }
    await wait(backoffMs(retry, BACKOFF, Math.random()), undefined, { signal }).catch(() => {});
  }
  return false;
}

/** Why a service cannot work while its database fails with `error`. */
export function waitingReason(error: unknown): string {
  return `waiting for the database: ${messageOf(error)}`;
}

function fieldsOf(address: PostgresAddress, startedAt: number): WaitFields {
  return { ...address, waited_ms: Math.round(performance.now() - startedAt) };
}
