import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { EndedSpan, SpanOrigin, SpanSink } from './ended-span.ts';
import { RandomIds } from './random-ids.ts';
import { readableSpan } from './readable-span.ts';
import { BATCH_DELAY_MS, MAX_BATCH_SPANS, MAX_PENDING_SPANS, type SpanCounts } from './span-bounds.ts';

/** Exports under way at once, when all waiting spans are flushed together. */
export const MAX_EXPORTS_AT_ONCE = MAX_PENDING_SPANS / MAX_BATCH_SPANS + 1;
/** The exporter's own timeout comes first, because its error says what happened. */
const TIMEOUT_GRACE_MS = 500;

/** Batches ended spans for one of the SDK's exporters; a span with its attributes takes about 2 KB until the collector has it. While a
 *  collector is slow or away, spans are dropped and counted instead of held: those being exported count as pending until the collector has
 *  responded. */
export class BatchedSpanSink implements SpanSink {
  readonly #counts: SpanCounts;
  readonly #origin: SpanOrigin;
  readonly #batches: BatchSpanProcessor;
  readonly #ids = new RandomIds();
  #pending = 0;

  constructor(exporter: SpanExporter, exportTimeoutMs: number, counts: SpanCounts, origin: SpanOrigin) {
    this.#counts = counts;
    this.#origin = origin;
    this.#batches = new BatchSpanProcessor({
      exporter: counted(exporter, (spans, isExported) => this.#exported(spans, isExported)),
      maxQueueSize: MAX_PENDING_SPANS,
      maxExportBatchSize: MAX_BATCH_SPANS,
      scheduledDelayMillis: BATCH_DELAY_MS,
      exportTimeoutMillis: exportTimeoutMs + TIMEOUT_GRACE_MS,
    });
  }

  add(span: EndedSpan): void {
    if (this.#pending >= MAX_PENDING_SPANS) {
      this.#counts.dropped += 1;
      return;
    }
    this.#pending += 1;
    this.#batches.onEnd(readableSpan(span, this.#origin, this.#ids));
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #exported(spans: number, isExported: boolean): void {
    this.#pending -= spans;
    this.#counts[isExported ? 'exported' : 'failed'] += spans;
  }
}

/** `exporter`; `onDone` is called once for every batch. */
function counted(exporter: SpanExporter, onDone: (spans: number, isExported: boolean) => void): SpanExporter {
  return {
    export: (spans: ReadableSpan[], callback: (result: ExportResult) => void) => {
      let isDone = false;
      const done = (result: ExportResult) => {
        if (isDone) return;
        isDone = true;
        onDone(spans.length, result.code === ExportResultCode.SUCCESS);
        callback(result);
      };
      try {
        exporter.export(spans, done);
      } catch (error) {
        done({ code: ExportResultCode.FAILED, error: error instanceof Error ? error : new Error(String(error)) });
      }
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
