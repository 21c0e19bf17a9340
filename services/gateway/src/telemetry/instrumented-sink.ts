import type { BatchResult, TraceSink } from '@vitrine/trace-derivation/trace-sink';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { allLost } from '@vitrine/traces/write-result';
import { genaiOperationName } from './metrics/genai-operation.ts';
import type { TelemetryContext } from './request-telemetry.ts';

/**
 * Writes through `sink`, and records its batches and their tokens. `store`: the name of the store that it writes to. Undefined for a
 * publisher, whose writes the trace-writer records.
 */
export function instrumentedSink(
  sink: TraceSink,
  store: string | undefined,
  { spans, metrics }: Pick<TelemetryContext, 'spans' | 'metrics'>,
): TraceSink {
  if (store !== undefined) metrics?.declareStore(store);
  const recordWrite = (store: string, startedAt: number, batchSize: number, failures: BatchResult['failures']) => {
    const endedAt = performance.now();
    metrics?.flushed(batchSize, endedAt - startedAt);
    spans?.batchWritten({ startedAt, endedAt, batchSize, errorClass: failures[0]?.error_class });
    for (const { operation, error_class, count } of failures) metrics?.writeFailed(count, { operation, error_class, store });
  };
  const record = (batchSize: number, startedAt: number, { failures, tokens = [], bodiesOmitted = 0 }: BatchResult) => {
    if (bodiesOmitted > 0) metrics?.bodiesOmitted(bodiesOmitted);
    if (store === undefined) metrics?.published(performance.now() - startedAt, failures);
    else recordWrite(store, startedAt, batchSize, failures);
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
