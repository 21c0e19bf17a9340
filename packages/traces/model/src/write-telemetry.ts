import type { Tracer } from '@opentelemetry/api';
import { counter, histogram, type MetricAttributes } from '@vitrine/telemetry/metrics/instrument';
import { recordSpan } from '@vitrine/telemetry/spans/server-span';
import { FAILURE_CLASSES, WRITE_OPERATIONS } from './record-writer.ts';

const FLUSH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
/** Batches of a gateway have at most `queue.batch` traces, whose maximum is 4,096. */
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096];

/** Traces in the store. */
export const WRITTEN_INSTRUMENTS = {
  written: counter('svc.trace.written_total', '{trace}', 'Traces written to the store.'),
};

/** Metrics of the process that writes traces to their store: the gateway, or the trace-writer with a broker.
 *  Spec: G12.7, G12.11, G14.28 to G14.31. */
export const WRITE_INSTRUMENTS = {
  writeFailed: counter('svc.trace.write_failed_total', '{trace}', 'Traces that could not be written to the store.', [
    'operation',
    'error_class',
    'store',
  ]),
  flushDuration: histogram('svc.trace.flush_duration_seconds', 's', 'Time to write one batch of traces.', FLUSH_SECONDS),
  flushBatchSize: histogram('svc.trace.flush_batch_size', '{trace}', 'Traces in one written batch.', BATCH_SIZES),
};

/** All series of failed writes to one store. They start at 0, because a rate misses the first increase of a series that begins above 0. */
export function writeFailureSeries(store: string): MetricAttributes[] {
  return WRITE_OPERATIONS.flatMap((operation) => FAILURE_CLASSES.map((error_class) => ({ operation, error_class, store })));
}

/** An attempt to write a batch. Times are those of `performance.now()`. */
export interface WrittenBatch {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly batchSize: number;
  /** Undefined when all of it was written. */
  readonly errorClass: string | undefined;
}

/** Records one `gateway.trace.write` span, a trace of its own: a batch belongs to no single request. Spec: G13.5, G14.23. */
export function recordWriteSpan(tracer: Tracer, { startedAt, endedAt, batchSize, errorClass }: WrittenBatch): void {
  const error = errorClass === undefined ? {} : { 'gateway.trace.write.error_class': errorClass };
  recordSpan(tracer, {
    name: 'gateway.trace.write',
    attributes: { 'gateway.trace.write.batch_size': batchSize, ...error },
    failure: errorClass === undefined ? undefined : 'write failed',
    startedAt,
    endedAt,
  });
}
