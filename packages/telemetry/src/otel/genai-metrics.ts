import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import { type BoundedNames, labelOf } from './bounded-names.ts';
import { GENAI_INSTRUMENTS as I, type Instrument } from './instruments.ts';

/** What was asked of which provider, in the words of the GenAI conventions. */
export interface GenaiOperation {
  /** `chat`, `embeddings`, ...: see `genaiOperationName`. */
  readonly operation: string;
  /** `openai` or `anthropic`. */
  readonly provider: string;
  readonly requestModel: string | undefined;
}

export interface GenaiMetrics {
  /** `errorType`: the status of a failed answer, or what happened instead of one; undefined for success. `firstChunkMs`: of a
   *  stream. */
  operationEnded(
    operation: GenaiOperation,
    ended: { durationMs: number; firstChunkMs: number | undefined; errorType: string | undefined },
  ): void;
  /** Billable tokens that the provider reported. */
  tokensUsed(operation: GenaiOperation, tokens: { input: number; output: number }): void;
}

/** Operation names of the GenAI conventions by the end of a path. */
const OPERATIONS: readonly (readonly [RegExp, string])[] = [
  [/\/chat\/completions$|\/messages$|\/responses$/, 'chat'],
  [/\/embeddings$/, 'embeddings'],
  [/\/completions$|\/complete$/, 'text_completion'],
];

/** The operation that a provider's path asks for; undefined for what generates nothing (lists of models, files, counts). */
export function genaiOperationName(path: string): string | undefined {
  const query = path.indexOf('?');
  const plain = query === -1 ? path : path.slice(0, query);
  return OPERATIONS.find(([pattern]) => pattern.test(plain))?.[1];
}

/** Metrics of the GenAI conventions. Model names share their bound with the gateway's own metrics. */
export function createGenaiMetrics(meter: Meter, models: BoundedNames): GenaiMetrics {
  const duration = histogram(meter, I.operationDuration);
  const firstChunk = histogram(meter, I.timeToFirstChunk);
  const usage = histogram(meter, I.tokenUsage);
  const attributesOf = ({ operation, provider, requestModel }: GenaiOperation, isProven: boolean): Attributes => ({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': models.labelOf(requestModel, isProven),
  });
  return {
    operationEnded: (operation, { durationMs, firstChunkMs, errorType }) => {
      const attributes = attributesOf(operation, errorType === undefined);
      const ended = errorType === undefined ? attributes : { ...attributes, 'error.type': labelOf(errorType) };
      duration.record(durationMs / 1_000, ended);
      if (firstChunkMs !== undefined) firstChunk.record(firstChunkMs / 1_000, attributes);
    },
    tokensUsed: (operation, { input, output }) => {
      const attributes = attributesOf(operation, true);
      usage.record(input, { ...attributes, 'gen_ai.token.type': 'input' });
      usage.record(output, { ...attributes, 'gen_ai.token.type': 'output' });
    },
  };
}

function histogram(meter: Meter, { name, unit, description, buckets }: Instrument & { buckets: readonly number[] }): Histogram {
  return meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...buckets] } });
}
