import { type BoundedNames, labelOf } from '@vitrine/telemetry/metrics/bounded-names';
import type { Recorders, ServiceMetrics } from '@vitrine/telemetry/metrics/instrument';
import { GENAI_INSTRUMENTS } from './instruments.ts';

/** A request to a provider, in the words of the GenAI conventions. */
interface GenaiOperation {
  /** `chat`, `embeddings`, ...: see `genaiOperationName`. */
  readonly operation: string;
  /** `openai` or `anthropic`. */
  readonly provider: string;
  readonly requestModel: string | undefined;
}

/** Metrics of the GenAI conventions. Model names count against the same bound as in the gateway's own metrics. */
export class GenaiMetrics {
  readonly #recorders: Recorders<typeof GENAI_INSTRUMENTS>;
  readonly #models: BoundedNames;

  constructor(metrics: ServiceMetrics, models: BoundedNames) {
    this.#recorders = metrics.declare(GENAI_INSTRUMENTS);
    this.#models = models;
  }

  /** `errorType`: the status of a failed response, or the class of error that took its place; undefined for success. `firstChunkMs`: of a
   *  stream. */
  operationEnded(
    operation: GenaiOperation,
    {
      durationMs,
      firstChunkMs,
      errorType,
    }: { durationMs: number; firstChunkMs: number | undefined; errorType: string | undefined },
  ): void {
    const attributes = this.#attributesOf(operation, errorType === undefined);
    const ended = errorType === undefined ? attributes : { ...attributes, 'error.type': labelOf(errorType) };
    this.#recorders.operationDuration.record(durationMs / 1_000, ended);
    if (firstChunkMs !== undefined) this.#recorders.timeToFirstChunk.record(firstChunkMs / 1_000, attributes);
  }

  /** Billable tokens that the provider reported. */
  tokensUsed(operation: GenaiOperation, { input, output }: { input: number; output: number }): void {
    const attributes = this.#attributesOf(operation, true);
    this.#recorders.tokenUsage.record(input, { ...attributes, 'gen_ai.token.type': 'input' });
    this.#recorders.tokenUsage.record(output, { ...attributes, 'gen_ai.token.type': 'output' });
  }

  #attributesOf({ operation, provider, requestModel }: GenaiOperation, isProven: boolean) {
    return {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': this.#models.labelOf(requestModel, isProven),
    };
  }
}
