import { z } from 'zod';
import { VERSION } from '../config.ts';
import type { ConsumerStatus } from '@vitrine/kafka/consume/kafka-consumer';

const count = z.int().min(0);
/** The lag is undefined while it is not known. */
const details = { scans_in_flight: count, lag_records: count.optional() };

/** Health, which responds with 200 as long as the process does, and says what the service waits for. */
export function serviceHealth(state: () => ScannerState, readDetails: () => z.output<z.ZodObject<typeof details>>) {
  return {
    name: 'enrich-scan-queue',
    version: VERSION,
    reasons: HEALTH_REASONS,
    degradedBy: () => healthReasons(state()),
    details,
    readDetails,
  };
}

/** A loop that has not come round for so long makes no progress: each round ends within its timeouts of the database. */
const STALLED_AFTER_SEC = 120;

/** State of the service and its dependencies. Reading it makes no calls. */
export interface ScannerState {
  /** Why the database is unusable; undefined while it responds. */
  readonly databaseReason: string | undefined;
  /** By topic; empty before the database was reached and without a broker. */
  readonly consumers: readonly ConsumerStatus[];
  /** Undefined without a broker. */
  readonly canPublish: boolean | undefined;
  /** Seconds since the last completed round of each loop, by name. */
  readonly loopsAgeSec: ReadonlyMap<string, number>;
}

/** Why the process should be restarted; empty while it makes progress. Does not depend on database or broker. */
export function stalledBy({ loopsAgeSec }: ScannerState): string[] {
  const stalled = [...loopsAgeSec].filter(([, age]) => age > STALLED_AFTER_SEC);
  return stalled.map(([name, age]) => `${name}: no progress for ${Math.round(age)} s`);
}

/** Why the service is degraded. Each has a heading in docs/failure-modes.md. */
const HEALTH_REASONS = ['database_unavailable', 'broker_unavailable'] as const;

export function healthReasons({ databaseReason, consumers, canPublish }: ScannerState): (typeof HEALTH_REASONS)[number][] {
  const holds = {
    database_unavailable: databaseReason !== undefined || consumers.includes('paused'),
    broker_unavailable: canPublish === false || consumers.includes('connecting'),
  };
  return HEALTH_REASONS.filter((reason) => holds[reason]);
}
