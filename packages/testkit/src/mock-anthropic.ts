import { anthropicError, anthropicRequestId } from './anthropic-error.ts';
import { anthropicCountTokens, anthropicMessages } from './anthropic-messages.ts';
import type { RouteResult, MockDialect } from './mock-dialect.ts';
import type { MockOptions, MockProvider } from './mock-provider.ts';
import { startMockServer } from './mock-server.ts';

const MODELS = ['claude-opus-4-5-20251101', 'claude-sonnet-4-5-20250929', 'claude-haiku-4-5-20251001'];
const RESETS_AT = '2026-01-01T00:00:00Z';

const dialect: MockDialect = {
  routes: new Map([
    ['POST /v1/messages', { takes: 'json', respond: anthropicMessages }],
    ['POST /v1/messages/count_tokens', { takes: 'json', respond: anthropicCountTokens }],
    ['GET /v1/models', { takes: 'nothing', respond: models }],
  ]),
  hasCredential: (headers) => Boolean(headers['x-api-key']) || /^bearer +\S/i.test(headers.authorization ?? ''),
  headers: (number) => ({
    'request-id': anthropicRequestId(number),
    'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': RESETS_AT,
    'anthropic-ratelimit-input-tokens-limit': '2000000',
    'anthropic-ratelimit-input-tokens-remaining': '1999000',
    'anthropic-ratelimit-input-tokens-reset': RESETS_AT,
    'anthropic-ratelimit-output-tokens-limit': '400000',
    'anthropic-ratelimit-output-tokens-remaining': '399000',
    'anthropic-ratelimit-output-tokens-reset': RESETS_AT,
    server: 'cloudflare',
    'cf-ray': `mock${number}-FRA`,
    'set-cookie': [`__cf_bm=mock-anthropic-${number}; path=/; HttpOnly; Secure; SameSite=None`],
  }),
  error: anthropicError,
  say: {
    no_credential: () => 'x-api-key header is required',
    invalid_request: (what) => what,
    not_found: () => 'Not Found',
    too_large: () => 'Request exceeds the maximum size',
  },
};

/** GET /v1/models. */
function models(): RouteResult {
  const data = MODELS.map((id) => ({ type: 'model', id, display_name: id, created_at: '2025-01-01T00:00:00Z' }));
  return { kind: 'json', body: { data, has_more: false, first_id: MODELS[0] ?? null, last_id: MODELS.at(-1) ?? null } };
}

/** A provider with Anthropic's wire format: messages, count_tokens and models. For its other features see scenario.ts. */
export function startMockAnthropic(options?: MockOptions): Promise<MockProvider> {
  return startMockServer(dialect, options);
}
