import type { CreateEmbeddingResponse } from 'openai/resources/embeddings';
import { type RouteResult, type MockCall, stringOf } from './mock-dialect.ts';
import { countWords } from './token-counts.ts';

const DEFAULT_DIMENSIONS = 8;
const MAX_DIMENSIONS = 3072;
const MAX_INPUTS = 2048;

/** POST /v1/embeddings: the input is a text, texts, one list of tokens, or lists of tokens. */
export function openaiEmbeddings(call: MockCall): RouteResult {
  const { input, dimensions, encoding_format } = call.body;
  const inputs: readonly unknown[] = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const size =
    typeof dimensions === 'number' ? Math.trunc(Math.min(Math.max(dimensions, 1), MAX_DIMENSIONS)) : DEFAULT_DIMENSIONS;
  const prompt_tokens = inputs.reduce<number>((tokens, one) => tokens + (Array.isArray(one) ? one.length : countWords(one)), 0);
  const data = inputs.slice(0, MAX_INPUTS).map((_, index) => {
    const vector = vectorOf(index, size);
    // The SDK requests base64 by default, and decodes it.
    const embedding = encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding' as const, index, embedding };
  });
  const body: Omit<CreateEmbeddingResponse, 'data' | 'usage'> = {
    object: 'list',
    model: stringOf(call.body, 'model', 'mock-model'),
  };
  const usage = call.scenario.has('no-usage') ? {} : { usage: { prompt_tokens, total_tokens: prompt_tokens } };
  return { kind: 'json', body: { ...body, data, ...usage } };
}

/** Halves, quarters, eighths...: exact as 32 bit floats, so that both encodings give equal numbers. */
function vectorOf(index: number, size: number): Float32Array {
  return Float32Array.from({ length: size }, (_, place) => ((index + place) % 8) / 8);
}
