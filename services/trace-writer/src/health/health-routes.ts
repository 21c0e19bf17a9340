import type { Route } from '@vitrine/http-api/route';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import type { ConsumerFigures, ConsumerStatus } from '@vitrine/kafka/consume/kafka-consumer';
import { z } from 'zod';
import { VERSION } from '../version.ts';

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

/** Health. Always responds with 200, and reports what the service waits for. */
export function healthRoutes(
  state: () => PipelineState,
  figures: () => ConsumerFigures | undefined,
  uptimeSec: () => number,
): Route[] {
  const readDetails = () => {
    const { consumer } = state();
    const { lagRecords, assignedPartitions = 0 } = figures() ?? {};
    return { consumer, lag_records: lagRecords, assigned_partitions: assignedPartitions };
  };
  return serviceRoutes({
    name: 'trace-writer',
    version: VERSION,
    uptimeSec,
    reasons: HEALTH_REASONS,
    degradedBy: () => healthReasons(state()),
    details,
    readDetails,
  });
}

function healthReasons({ databaseReason, consumer, canPublishDeadLetters }: PipelineState): (typeof HEALTH_REASONS)[number][] {
  const applies = {
    database_unavailable: databaseReason !== undefined || consumer === 'paused',
    broker_unavailable: !canPublishDeadLetters || consumer === 'connecting',
  };
  return HEALTH_REASONS.filter((reason) => applies[reason]);
}
