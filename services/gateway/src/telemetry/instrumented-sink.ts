import type { BatchResult, TraceSink } from '@vitrine/trace-derivation/trace-sink';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { allLost } from '@vitrine/traces/write-result';
import type { GatewayMetrics } from './metrics/gateway-metrics.ts';
import { genaiOperationName } from './metrics/genai-operation.ts';
import type { EndedBatch } from './record-batches.ts';

/** Writes through `sink`, has `recordBatch` record each batch, and records its tokens. */
export function instrumentedSink(
  sink: TraceSink,
  recordBatch: (batch: EndedBatch) => void,
  metrics: GatewayMetrics | undefined,
): TraceSink {
  const record = (batchSize: number, startedAt: number, { failures, tokens = [], bodiesOmitted = 0 }: BatchResult) => {
    if (bodiesOmitted > 0) metrics?.bodiesOmitted(bodiesOmitted);
    recordBatch({ startedAt, endedAt: performance.now(), batchSize, failures });
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
