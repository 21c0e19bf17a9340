import type { WriteFailure } from '@vitrine/traces/write-result';
import { FAILURE_CLASSES, WRITE_OPERATIONS } from '@vitrine/traces/record-writer';
import type { GatewayMetrics } from './metrics/gateway-metrics.ts';
import type { GatewaySpans } from './spans/gateway-spans.ts';

/** A batch that has left the queue. Times are those of `performance.now()`. */
export interface EndedBatch {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly batchSize: number;
  readonly failures: readonly WriteFailure[];
}

interface Context {
  readonly spans: GatewaySpans | undefined;
  readonly metrics: GatewayMetrics | undefined;
}

/** Records batches that are written to the store; `store` is its name. */
export function recordWrites(store: string, { spans, metrics }: Context): (batch: EndedBatch) => void {
  // Every counter is there from the start: a rate sees no increase in a series that begins above 0.
  for (const operation of WRITE_OPERATIONS)
    for (const error_class of FAILURE_CLASSES) metrics?.writeFailed({ operation, error_class, store, count: 0 });
  return ({ startedAt, endedAt, batchSize, failures }) => {
    metrics?.flushed(batchSize, endedAt - startedAt);
    spans?.batchWritten({ startedAt, endedAt, batchSize, errorClass: failures[0]?.error_class });
    for (const { operation, error_class, count } of failures) metrics?.writeFailed({ operation, error_class, store, count });
  };
}

/** Records batches that are published: writing them is the trace-writer's, and so are its span and metrics. */
export function recordPublishing({ metrics }: Context): (batch: EndedBatch) => void {
  return ({ startedAt, endedAt, failures }) => metrics?.published(endedAt - startedAt, failures);
}
