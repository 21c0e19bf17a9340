import { expect, test } from '@jest/globals';
import type { FindingCounts } from '@vitrine/privacy/findings';
import type { PrivacyPolicy } from '@vitrine/privacy/privacy-rules';
import { Scrubber } from '@vitrine/privacy/redaction';
import type { CapturedExchange } from './captured-exchange.ts';
import { traceMetadataShape } from '@vitrine/traces/trace-metadata-shape';
import type { Cost } from './exchange-cost.ts';
import type { Usage } from './usage.ts';
import { plainExchange } from './testing/plain-exchange.ts';
import { traceMetadata } from './trace-metadata.ts';

const exchange = plainExchange(0, {
  outcome: 'upstream_error',
  upstreamError: 'tls',
  upstreamErrorDetail: 'certificate of pk_canary0123.test',
});

const metadataOf = (more: Partial<CapturedExchange> = {}, applied: PrivacyPolicy = { mode: 'off', policyId: 'p' }) =>
  JSON.parse(
    traceMetadata({
      exchange: { ...exchange, ...more },
      streaming: false,
      credential: '',
      usage: undefined,
      cost: undefined,
      responseModel: undefined,
      serviceTier: undefined,
      lineageIgnored: 0,
      applied,
      sent: new Scrubber(),
      received: new Scrubber(),
      bodies: { request: undefined, response: undefined },
    }),
  ) as Record<string, unknown>;

test('an upstream failure is named, and its detail contains no credential', () => {
  expect(metadataOf()).toMatchObject({
    upstream_error: 'tls',
    upstream_error_detail: 'certificate of [CREDENTIAL_REDACTED].test',
    redaction_applied: true,
    redaction_counts: { token_like: 1 },
  });
});

test('without a failure its fields are absent', () => {
  const metadata = metadataOf({ upstreamError: undefined, upstreamErrorDetail: '' });
  expect(Object.keys(metadata).filter((key) => key.startsWith('upstream'))).toEqual([]);
});

test('G11.27: retries are counted when there are any', () => {
  expect(metadataOf({ retries: 1 })['retries']).toBe(1);
  expect(metadataOf()).not.toHaveProperty('retries');
});

test('each exchange has its own policy and findings, independent of the previous one', () => {
  const plain = { upstreamErrorDetail: '' };
  const redactionOf = (...of: Parameters<typeof metadataOf>) => {
    const { redaction_mode, redaction_policy_id, redaction_applied, redaction_counts } = metadataOf(...of);
    return [redaction_mode, redaction_policy_id, redaction_applied, (redaction_counts as FindingCounts).header];
  };
  expect(redactionOf(plain)).toEqual(['off', 'p', false, 0]);
  expect(redactionOf({ ...plain, secretHeaders: 2 })).toEqual(['off', 'p', true, 2]);
  expect(redactionOf(plain, { mode: 'block', policyId: 'p' })).toEqual(['block', 'p', false, 0]);
  expect(redactionOf(plain, { mode: 'block', policyId: 'q' })).toEqual(['block', 'q', false, 0]);
});

test('times of chunks are shown as they were recorded, and absent otherwise', () => {
  const chunkTimes = [
    [0, 321],
    [120, 350],
  ] as const;
  expect(metadataOf({ chunkTimes })['chunk_times']).toEqual(chunkTimes);
  expect(metadataOf()).not.toHaveProperty('chunk_times');
});

test('every field is in the documented schema', () => {
  const all = traceMetadata({
    exchange: { ...exchange, correlationId: 'c', responseChunks: 2, chunkTimes: [[0, 1]], retries: 1 },
    streaming: true,
    credential: 'sk-1234567890123456',
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      cached_input_tokens: 1,
      cache_write_input_tokens: 1,
      reasoning_tokens: 1,
    } as Usage,
    charged: { responseId: 'resp_1', isReadBack: true, status: 'reported' },
    cost: { breakdown: { input: 1 }, price_source: 's', price_version: 'v' } as Cost,
    responseModel: 'm',
    serviceTier: 'flex',
    lineageIgnored: 1,
    applied: { mode: 'off', policyId: 'p' },
    sent: new Scrubber(),
    received: new Scrubber(),
    bodies: {
      request: { text: 'eA==', truncated: true, encoding: 'base64' },
      response: { text: undefined, truncated: true, encoding: 'base64', isLate: true },
    },
  });
  const fields = Object.keys(JSON.parse(all) as object);
  expect(fields.length).toBeGreaterThan(20);
  expect(fields.filter((field) => !Object.hasOwn(traceMetadataShape.shape, field))).toEqual([]);
});
