import type { GatewayMetrics } from '@vitrine/telemetry/otel/gateway-metrics';
import type { GatewaySpans } from '@vitrine/telemetry/otel/gateway-spans';
import { genaiOperationName } from '@vitrine/telemetry/otel/genai-metrics';
import type { TraceSink } from '@vitrine/trace-derivation/trace-sink';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { allLost, FAILURE_CLASSES, WRITE_OPERATIONS, type WriteResult } from '@vitrine/traces/write-result';

/** Writes through `sink` and tells telemetry of each batch: its size, its time, its failures, the tokens in it. `store` is the
 *  sink's name in metrics. */
export function instrumentedSink(
  sink: TraceSink,
  store: string,
  { spans, metrics }: { readonly spans: GatewaySpans | undefined; readonly metrics: GatewayMetrics | undefined },
): TraceSink {
  // Every counter is there from the start: a rate sees no increase in a series that begins above 0.
  for (const operation of WRITE_OPERATIONS)
    for (const error_class of FAILURE_CLASSES) metrics?.writeFailed({ operation, error_class, store, count: 0 });
  const tell = (batchSize: number, startedAt: number, { failures, tokens = [] }: WriteResult) => {
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
        tell(batchSize, startedAt, result);
        return result;
      } catch (error) {
        tell(batchSize, startedAt, allLost(batchSize, writeErrorOf(error)));
        throw error;
      }
    },
  };
}
