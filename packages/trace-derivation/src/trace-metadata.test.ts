import { expect, test } from '@jest/globals';
import type { CapturedBody, CapturedExchange } from './captured-exchange.ts';
import { DEFAULT_SCOPE } from '@vitrine/traces/exchange-scope';
import { Scrubber } from '@vitrine/privacy/scrubber';
import { traceMetadata } from './trace-metadata.ts';

const body: CapturedBody = { part: 'body', chunks: [], bytes: 0, kind: undefined, coding: '', facts: undefined };
const exchange: CapturedExchange = {
  provider: 'openai',
  scope: DEFAULT_SCOPE,
  method: 'POST',
  path: '/openai/v1/x',
  sentStatus: 502,
  outcome: 'upstream_error',
  startedAt: 0,
  endedAt: 1,
  latencyUs: 1_000,
  firstByteUs: 0,
  correlationId: 'c',
  otelTraceId: '',
  requestHeaders: '',
  responseHeaders: '',
  secretHeaders: 0,
  hasLineage: false,
  credential: '',
  findings: '',
  upstreamError: 'tls',
  upstreamErrorDetail: 'certificate of pk_canary0123.test',
  request: body,
  response: body,
  responseChunks: 0,
};

const metadataOf = (more: Partial<CapturedExchange> = {}) =>
  JSON.parse(
    traceMetadata({
      exchange: { ...exchange, ...more },
      streaming: false,
      credential: '',
      usage: undefined,
      price: undefined,
      lineageIgnored: 0,
      applied: { mode: 'off', policyId: 'p' },
      sent: new Scrubber(),
      received: new Scrubber(),
      bodies: { request: undefined, response: undefined },
    }),
  ) as Record<string, unknown>;

test('an upstream failure is named, and its detail holds no credential', () => {
  expect(metadataOf()).toMatchObject({
    upstream_error: 'tls',
    upstream_error_detail: 'certificate of [CREDENTIAL_REDACTED].test',
    redaction_applied: true,
    redaction_counts: { token_like: 1 },
  });
});

test('without one there is nothing of it', () => {
  const metadata = metadataOf({ upstreamError: undefined, upstreamErrorDetail: '' });
  expect(Object.keys(metadata).filter((key) => key.startsWith('upstream'))).toEqual([]);
});
