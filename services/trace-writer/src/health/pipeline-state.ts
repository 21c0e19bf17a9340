import type { ConsumerStatus } from '@vitrine/kafka/consume/kafka-consumer';

/** What the service depends on; none of it is read by a call. */
export interface PipelineState {
  /** Why the database cannot be used yet; undefined once it was reached. */
  readonly databaseReason: string | undefined;
  /** Undefined before the database was reached. */
  readonly consumer: ConsumerStatus | undefined;
  readonly canPublishDeadLetters: boolean;
}

/** Why the service is degraded. Each has a heading in docs/failure-modes.md. */
export const HEALTH_REASONS = ['database_unavailable', 'broker_unavailable'] as const;

export function healthReasons({
  databaseReason,
  consumer,
  canPublishDeadLetters,
}: PipelineState): (typeof HEALTH_REASONS)[number][] {
  const holds = {
    database_unavailable: databaseReason !== undefined || consumer === 'paused',
    broker_unavailable: !canPublishDeadLetters || consumer === 'connecting',
  };
  return HEALTH_REASONS.filter((reason) => holds[reason]);
}
