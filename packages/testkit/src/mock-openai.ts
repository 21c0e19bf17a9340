import type { CreateEmbeddingResponse } from 'openai/resources/embeddings';
import { MOCK_TIME_S, stringOf, type MockCall, type MockDialect, type RouteResult } from './mock-dialect.ts';
import type { MockOptions, MockProvider } from './mock-provider.ts';
import { startMockServer } from './mock-server.ts';
import { wholeText } from './mock-text.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiError } from './openai-error.ts';
import { openaiResponses } from './openai-responses.ts';
import { countWords } from './token-counts.ts';

const DEFAULT_DIMENSIONS = 8;
const MAX_DIMENSIONS = 3072;
const MAX_INPUTS = 2048;
/** Bytes of a second of sound. */
const BYTES_PER_SECOND = 16_000;
const TOKENS_PER_SECOND = 10;
const MODELS = ['gpt-5.1-2025-11-13', 'gpt-4o-2024-08-06', 'gpt-4o-mini-2024-07-18', 'text-embedding-3-small', 'whisper-1'];

const dialect: MockDialect = {
  routes: new Map([
    ['POST /v1/chat/completions', { takes: 'json', respond: openaiChat }],
    ['POST /v1/responses', { takes: 'json', respond: openaiResponses }],
    ['POST /v1/embeddings', { takes: 'json', respond: openaiEmbeddings }],
    ['POST /v1/audio/transcriptions', { takes: 'multipart', respond: openaiTranscriptions }],
    ['GET /v1/models', { takes: 'nothing', respond: openaiModels }],
  ]),
  hasCredential: (headers) => /^bearer +\S/i.test(headers.authorization ?? ''),
  headers: (number) => ({
    'x-request-id': `req_mock${number}`,
    'openai-organization': 'org-mock',
    'openai-project': 'proj_mock',
    'openai-processing-ms': '12',
    'openai-version': '2020-10-01',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': '2000000',
    'x-ratelimit-remaining-tokens': '1999000',
    'x-ratelimit-reset-tokens': '30ms',
    server: 'cloudflare',
    'cf-ray': `mock${number}-FRA`,
    'set-cookie': [`__cf_bm=mock-openai-${number}; path=/; HttpOnly; Secure; SameSite=None`],
  }),
  error: openaiError,
  say: {
    no_credential: () =>
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.",
    invalid_request: (what) => what,
    not_found: (what) => `Invalid URL (${what})`,
    too_large: () => 'The request body is too large.',
  },
};

/** A provider with OpenAI's wire format: chat, responses, embeddings, transcriptions and models. For its other features see scenario.ts. */
export function startMockOpenai(options?: MockOptions): Promise<MockProvider> {
  return startMockServer(dialect, options);
}

/** POST /v1/embeddings: the input is a text, texts, one list of tokens, or lists of tokens. */
function openaiEmbeddings(call: MockCall): RouteResult {
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

/** POST /v1/audio/transcriptions: usage by duration for whisper-1, by tokens for every other model. */
function openaiTranscriptions(call: MockCall): RouteResult {
  const text = wholeText(call.scenario);
  const seconds = Math.ceil(call.length / BYTES_PER_SECOND);
  const input_tokens = seconds * TOKENS_PER_SECOND;
  const output_tokens = countWords(text);
  const usage = call.start.includes('whisper-1')
    ? { type: 'duration', seconds }
    : {
        type: 'tokens',
        input_tokens,
        input_token_details: { text_tokens: 0, audio_tokens: input_tokens },
        output_tokens,
        total_tokens: input_tokens + output_tokens,
      };
  return { kind: 'json', body: call.scenario.has('no-usage') ? { text } : { text, usage } };
}

/** GET /v1/models. */
function openaiModels(): RouteResult {
  const data = MODELS.map((id) => ({ id, object: 'model', created: MOCK_TIME_S, owned_by: 'system' }));
  return { kind: 'json', body: { object: 'list', data } };
}
