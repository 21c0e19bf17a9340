import { type BoundedNames, labelOf } from '@vitrine/telemetry/metrics/bounded-names';
import type { ServiceMetrics } from '@vitrine/telemetry/metrics/service-metrics';
import { GENAI_INSTRUMENTS } from './instruments.ts';

/** A request to a provider, in the words of the GenAI conventions. */
export interface GenaiOperation {
  /** `chat`, `embeddings`, ...: see `genaiOperationName`. */
  readonly operation: string;
  /** `openai` or `anthropic`. */
  readonly provider: string;
  readonly requestModel: string | undefined;
}

export interface GenaiMetrics {
  /** `errorType`: the status of a failed response, or the class of error that took its place; undefined for success. `firstChunkMs`: of a
   *  stream. */
  operationEnded(
    operation: GenaiOperation,
    ended: { durationMs: number; firstChunkMs: number | undefined; errorType: string | undefined },
  ): void;
  /** Billable tokens that the provider reported. */
  tokensUsed(operation: GenaiOperation, tokens: { input: number; output: number }): void;
}

/** Metrics of the GenAI conventions. Model names share their bound with the gateway's own metrics. */
export function createGenaiMetrics(metrics: ServiceMetrics, models: BoundedNames): GenaiMetrics {
  const { operationDuration, timeToFirstChunk, tokenUsage } = metrics.declare(GENAI_INSTRUMENTS);
  const attributesOf = ({ operation, provider, requestModel }: GenaiOperation, isProven: boolean) => ({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': models.labelOf(requestModel, isProven),
  });
  return {
    operationEnded: (operation, { durationMs, firstChunkMs, errorType }) => {
      const attributes = attributesOf(operation, errorType === undefined);
      const ended = errorType === undefined ? attributes : { ...attributes, 'error.type': labelOf(errorType) };
      operationDuration.record(durationMs / 1_000, ended);
      if (firstChunkMs !== undefined) timeToFirstChunk.record(firstChunkMs / 1_000, attributes);
    },
    tokensUsed: (operation, { input, output }) => {
      const attributes = attributesOf(operation, true);
      tokenUsage.record(input, { ...attributes, 'gen_ai.token.type': 'input' });
      tokenUsage.record(output, { ...attributes, 'gen_ai.token.type': 'output' });
    },
  };
}
