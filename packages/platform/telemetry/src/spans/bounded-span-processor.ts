import type { Context } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';

/** Maximum sampled spans waiting for or being sent to the collector. Each takes about 2 KB. */
const MAX_PENDING_SPANS = 16_384;
/** Spans in one export. */
const MAX_BATCH_SPANS = 1_024;
/** Maximum concurrent exports when all waiting spans are flushed. */
export const MAX_EXPORTS_AT_ONCE = MAX_PENDING_SPANS / MAX_BATCH_SPANS + 1;
/** How long a span waits for others. */
const BATCH_DELAY_MS = 1_000;
/** The exporter's own timeout is shorter, because its error is more specific. */
const TIMEOUT_GRACE_MS = 500;

/** Sampled spans by result, since the process started. */
export interface SpanCounts {
  exported: number;
  /** Spans not accepted by the collector. */
  failed: number;
  /** Spans dropped because too many were waiting. */
  dropped: number;
}

/** The SDK's batch processor with a bound that includes the spans being exported, and with counts. While a collector is slow or unavailable, spans
 *  are dropped and counted instead of kept. */
export class BoundedSpanProcessor implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #counts: SpanCounts;
  #pending = 0;
  #isShutDown = false;

  constructor(exporter: SpanExporter, exportTimeoutMs: number, counts: SpanCounts) {
    this.#counts = counts;
    this.#batches = new BatchSpanProcessor({
      exporter: countingExporter(exporter, (spans, isExported) => {
        this.#pending -= spans;
        counts[isExported ? 'exported' : 'failed'] += spans;
      }),
      maxQueueSize: MAX_PENDING_SPANS,
      maxExportBatchSize: MAX_BATCH_SPANS,
      scheduledDelayMillis: BATCH_DELAY_MS,
      exportTimeoutMillis: exportTimeoutMs + TIMEOUT_GRACE_MS,
    });
  }

  onStart(span: Span, parent: Context): void {
    this.#batches.onStart(span, parent);
  }

  onEnd(span: ReadableSpan): void {
    if (this.#isShutDown) return;
    if (this.#pending >= MAX_PENDING_SPANS) {
      this.#counts.dropped += 1;
      return;
    }
    this.#pending += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    this.#isShutDown = true;
    return this.#batches.shutdown();
  }
}

/** `exporter`; `onDone` is called once for every batch. */
function countingExporter(exporter: SpanExporter, onDone: (spans: number, isExported: boolean) => void): SpanExporter {
  return {
    export: (spans, callback) =>
      exporter.export(spans, (result) => {
        const isExported = result.code === ExportResultCode.SUCCESS;
        onDone(spans.length, isExported);
        callback(isExported ? result : { ...result, error: new Error(`spans could not be exported: ${String(result.error)}`) });
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
