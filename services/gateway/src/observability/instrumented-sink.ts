import type { BatchResult, TraceSink } from '@vitrine/trace-derivation/trace-sink';
import { FAILURE_CLASSES, WRITE_OPERATIONS } from '@vitrine/traces/record-writer';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { allLost } from '@vitrine/traces/write-result';
import type { GatewayMetrics } from './metrics/gateway-metrics.ts';
import { genaiOperationName } from './metrics/genai-operation.ts';
import type { GatewaySpans } from './spans/gateway-spans.ts';

/** Writes through `sink` and records size, duration, failures and tokens of each batch. `store` is the sink's name in metrics. */
export function instrumentedSink(
  sink: TraceSink,
  store: string,
  { spans, metrics }: { readonly spans: GatewaySpans | undefined; readonly metrics: GatewayMetrics | undefined },
): TraceSink {
  // Every counter is there from the start: a rate sees no increase in a series that begins above 0.
  for (const operation of WRITE_OPERATIONS)
    for (const error_class of FAILURE_CLASSES) metrics?.writeFailed({ operation, error_class, store, count: 0 });
  const record = (batchSize: number, startedAt: number, { failures, tokens = [] }: BatchResult) => {
    const endedAt = performance.now();
    metrics?.flushed(batchSize, endedAt - startedAt);
    spans?.batchWritten({ startedAt, endedAt, batchSize, errorClass: failures[0]?.error_class });
    for (const { operation, error_class, count } of failures) metrics?.writeFailed({ operation, error_class, store, count });
    for (const { path, provider, model, input_tokens: input, output_tokens: output } of tokens) {
      const operation = genaiOperationName(path);
      if (operation !== undefined) metrics?.genai?.tokensUsed({ operation, provider, requestModel: model }, { input, output });
    }
  };
  return {
    write: async (batch) => {
      const batchSize = batch.count;
      const startedAt = performance.now();
      try {
        const result = await sink.write(batch);
        record(batchSize, startedAt, result);
        return result;
      } catch (error) {
        record(batchSize, startedAt, allLost(batchSize, writeErrorOf(error)));
        throw error;
      }
    },
  };
}
