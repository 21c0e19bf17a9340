import { counter, histogram, type MetricAttributes } from '@vitrine/telemetry/metrics/instrument';
import type { SpanShape } from '@vitrine/telemetry/spans/ended-span';
import { FAILURE_CLASSES, WRITE_OPERATIONS } from './record-writer.ts';

const FLUSH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
/** Batches of a gateway hold 256 unless `queue.batch` says otherwise, and 4,096 at most. */
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096];

/** Traces in the store. */
export const WRITTEN_INSTRUMENTS = {
  written: counter('svc.trace.written_total', '{trace}', 'Traces written to the store.'),
};

/** Of the process that writes traces to their store: the gateway, or behind a broker the trace-writer. Spec: gateway, Metrics. */
export const WRITE_INSTRUMENTS = {
  writeFailed: counter('svc.trace.write_failed_total', '{trace}', 'Traces that could not be written to the store.', [
    'operation',
    'error_class',
    'store',
  ]),
  flushDuration: histogram('svc.trace.flush_duration_seconds', 's', 'Time to write one batch of traces.', FLUSH_SECONDS),
  flushBatchSize: histogram('svc.trace.flush_batch_size', '{trace}', 'Traces in one written batch.', BATCH_SIZES),
};

/** All series of failed writes to one store. They are to be 0 from the start: a rate misses the first increase of a series that begins
 *  above 0. */
export function writeFailureSeries(store: string): MetricAttributes[] {
  return WRITE_OPERATIONS.flatMap((operation) => FAILURE_CLASSES.map((error_class) => ({ operation, error_class, store })));
}

/** The span of one batch. Spec: gateway, Spans. */
export function writeShape(batchSize: number, errorClass: string | undefined): SpanShape {
  const attributes = ['gateway.trace.write.batch_size', batchSize];
  if (errorClass !== undefined) attributes.push('gateway.trace.write.error_class', errorClass);
  const failure = errorClass === undefined ? undefined : 'write failed';
  return { name: 'gateway.trace.write', kind: 'internal', attributes, failure };
}
