import { TraceFlags } from '@opentelemetry/api';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { ScrubbingSpanExporter } from './scrubbing-span-exporter.ts';
import { BATCH_DELAY_MS, MAX_BATCH_SPANS, MAX_PENDING_SPANS, type SpanCounts } from './span-bounds.ts';

/** Exports at once, when all that waits is flushed together. */
export const MAX_EXPORTS_AT_ONCE = MAX_PENDING_SPANS / MAX_BATCH_SPANS + 1;
/** The exporter's own timeout comes first, so that what it was is known. */
const TIMEOUT_GRACE_MS = 500;

/** Batches ended spans for one of the SDK's exporters; a span with its attributes takes about 2 KB until the collector has it. A collector that is slow or gone costs spans, which are counted, and never memory: those on
 *  their way count as waiting until the collector has answered. */
export class BoundedSpanProcessor implements SpanProcessor {
  readonly #counts: SpanCounts;
  readonly #batches: BatchSpanProcessor;
  #pending = 0;

  constructor(exporter: SpanExporter, exportTimeoutMs: number, counts: SpanCounts) {
    this.#counts = counts;
    this.#batches = new BatchSpanProcessor({
      exporter: new ScrubbingSpanExporter(exporter, (spans, isExported) => this.#exported(spans, isExported)),
      maxQueueSize: MAX_PENDING_SPANS,
      maxExportBatchSize: MAX_BATCH_SPANS,
      scheduledDelayMillis: BATCH_DELAY_MS,
      exportTimeoutMillis: exportTimeoutMs + TIMEOUT_GRACE_MS,
    });
  }

  onStart(_span: Span): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
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
    return this.#batches.shutdown();
  }

  #exported(spans: number, isExported: boolean): void {
    this.#pending -= spans;
    this.#counts[isExported ? 'exported' : 'failed'] += spans;
  }
}
