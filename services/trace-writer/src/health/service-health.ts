import type { ConsumerFigures, ConsumerStatus } from '@vitrine/kafka/consume/kafka-consumer';
import { z } from 'zod';
import { VERSION } from '../config.ts';

/** The state of the dependencies. Reading it makes no calls. */
export interface PipelineState {
  /** Why the database is not usable yet; undefined once it was reached. */
  readonly databaseReason: string | undefined;
  /** Undefined before the database was reached. */
  readonly consumer: ConsumerStatus | undefined;
  readonly canPublishDeadLetters: boolean;
}

/** Why the service is degraded. Each has a heading in docs/failure-modes.md. */
const HEALTH_REASONS = ['database_unavailable', 'broker_unavailable'] as const;

const count = z.int().min(0);
const details = {
  consumer: z.enum(['connecting', 'running', 'paused', 'stopped'] satisfies ConsumerStatus[]).optional(),
  lag_records: count.optional(),
  assigned_partitions: count,
};

/** Health, which responds with 200 as long as the process does, and says what the service waits for. */
export function serviceHealth(state: () => PipelineState, figures: () => ConsumerFigures) {
  return {
    name: 'trace-writer',
    version: VERSION,
    reasons: HEALTH_REASONS,
    degradedBy: () => healthReasons(state()),
    details,
    readDetails: () => {
      const { lagRecords, assignedPartitions } = figures();
      return { consumer: state().consumer, lag_records: lagRecords, assigned_partitions: assignedPartitions };
    },
  };
}

function healthReasons({ databaseReason, consumer, canPublishDeadLetters }: PipelineState): (typeof HEALTH_REASONS)[number][] {
  const applies = {
    database_unavailable: databaseReason !== undefined || consumer === 'paused',
    broker_unavailable: !canPublishDeadLetters || consumer === 'connecting',
  };
  return HEALTH_REASONS.filter((reason) => applies[reason]);
}
