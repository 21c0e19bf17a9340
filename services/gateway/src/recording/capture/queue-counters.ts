import { FAILURE_CLASSES, type FailureClass, type WriteOperation } from '@vitrine/traces/record-writer';

/** Counts of trace events since the process began. Times are milliseconds since the epoch. */
export interface QueueCounters {
  highWatermark: number;
  enqueueAccepted: number;
  enqueueDropped: number;
  written: number;
  writeDropped: number;
  admissionDelayed: number;
  lastEnqueueDropAt: number | undefined;
  lastWriteDropAt: number | undefined;
  lastWriteDropOperation: WriteOperation | undefined;
  readonly failuresByClass: Record<FailureClass, number>;
}

export function createQueueCounters(): QueueCounters {
  return {
    highWatermark: 0,
    enqueueAccepted: 0,
    enqueueDropped: 0,
    written: 0,
    writeDropped: 0,
    admissionDelayed: 0,
    lastEnqueueDropAt: undefined,
    lastWriteDropAt: undefined,
    lastWriteDropOperation: undefined,
    failuresByClass: Object.fromEntries(FAILURE_CLASSES.map((name) => [name, 0])) as Record<FailureClass, number>,
  };
}
