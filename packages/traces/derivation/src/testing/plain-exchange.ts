import { DETECTORS } from '@vitrine/privacy/findings';
import { DEFAULT_SCOPE } from '@vitrine/traces/exchange-scope';
import type { CapturePolicy } from '../capture-policy.ts';
import type { CapturedBody, CapturedExchange } from '../captured-exchange.ts';

/** Without bodies and without redaction. */
export const PLAIN_POLICY: CapturePolicy = {
  captureBodies: false,
  bodyMaxSize: 0,
  privacy: {
    mode: 'off',
    policyId: '',
    detectors: Object.fromEntries(DETECTORS.map((name) => [name, false])) as CapturePolicy['privacy']['detectors'],
    deniedHeaders: [],
    deniedFields: [],
    format: '',
    salt: '',
    scopes: [],
  },
};

/** A chat completion of gpt-4o with this many tokens, half of them input, overridden by `fields`. */
export function plainExchange(tokens: number, fields: Partial<CapturedExchange> = {}): CapturedExchange {
  const usage = { prompt_tokens: tokens / 2, completion_tokens: tokens / 2, total_tokens: tokens };
  return {
    provider: 'openai',
    scope: DEFAULT_SCOPE,
    method: 'POST',
    path: '/openai/v1/chat/completions',
    sentStatus: 200,
    outcome: 'completed',
    startedAt: Date.UTC(2026, 0, 5, 12),
    endedAt: Date.UTC(2026, 0, 5, 12, 0, 1),
    latencyUs: 1_000_000,
    firstByteUs: 0,
    correlationId: '',
    otelTraceId: '',
    requestHeaders: '',
    responseHeaders: '',
    secretHeaders: 0,
    hasLineage: false,
    credential: '',
    findings: '',
    upstreamError: undefined,
    upstreamErrorDetail: '',
    retries: 0,
    request: jsonBody({ model: 'gpt-4o' }),
    response: jsonBody(tokens === 0 ? {} : { model: 'gpt-4o', usage }),
    responseChunks: 1,
    ...fields,
  };
}

function jsonBody(value: object): CapturedBody {
  const bytes = Buffer.from(JSON.stringify(value));
  return { kind: 'json', coding: '', chunks: [bytes], bytes: bytes.length, ending: 'whole', facts: undefined };
}
