import type { MockDialect, MockErrorKind } from './mock-dialect.ts';
import type { MockOptions, MockProvider } from './mock-provider.ts';
import { startMockServer } from './mock-server.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiEmbeddings } from './openai-embeddings.ts';
import { openaiError } from './openai-error.ts';
import { openaiModels } from './openai-models.ts';
import { openaiResponses } from './openai-responses.ts';
import { openaiTranscriptions } from './openai-transcriptions.ts';

const SAY: Readonly<Record<MockErrorKind, (what: string) => string>> = {
  no_credential: () =>
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.",
  invalid_request: (what) => what,
  not_found: (what) => `Invalid URL (${what})`,
  too_large: () => 'The request body is too large.',
};

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
  say: (kind, what) => SAY[kind](what),
};

/** A provider with OpenAI's wire format: chat, responses, embeddings, transcriptions and models. For its other features see scenario.ts. */
export function startMockOpenai(options?: MockOptions): Promise<MockProvider> {
  return startMockServer(dialect, options);
}
