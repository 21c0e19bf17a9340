import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { rawExchange } from '../../testing/raw-exchange.ts';
import { startScriptedProvider, type ScriptedResponse } from '../../testing/scripted-provider.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

// How bodies are stored when they contradict their headers or end early. Bodies are redacted.

let script: ScriptedResponse;
let provider: Awaited<ReturnType<typeof startScriptedProvider>>;
let gateway: TestGateway;
let count = 0;
beforeAll(async () => {
  provider = await startScriptedProvider(() => script);
  gateway = await startTestGateway({
    SVC_PROVIDERS_OPENAI_UPSTREAM: provider.url,
    SVC_TRACING_CAPTURE_BODIES: 'true',
    SVC_PII_MODE: 'redact_storage',
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const JSON_TYPE = { 'content-type': 'application/json' };
const REQUEST = { headers: JSON_TYPE, body: Buffer.from('{"model":"gpt-4o-mini"}') };

async function traceOf(response: ScriptedResponse, request: Parameters<typeof rawExchange>[1] = REQUEST) {
  script = response;
  await rawExchange(`${gateway.url}/openai/v1/chat/completions`, request).catch(() => {});
  return gateway.newest((count += 1));
}

const WORDS = 'upstream connect error, ask alice@example.com for help';
const KEPT = expect.stringMatching(/^upstream connect error, ask \[EMAIL_REDACTED:[0-9a-f]{16}\] for help$/);

describe('a complete body keeps its last word', () => {
  test.each([
    ['that no gzip decodes', { ...JSON_TYPE, 'content-encoding': 'gzip' }, 'undecodable'],
    ['with a coding that is unknown', { ...JSON_TYPE, 'content-encoding': 'snappy' }, 'undecodable'],
    ['that is no JSON', JSON_TYPE, 'missing'],
    ['that is no stream of events', { 'content-type': 'text/event-stream' }, 'missing'],
  ])('%s', async (_name, headers, usage_status) => {
    for (const end of ['length', 'chunked'] as const) {
      const trace = await traceOf({ status: 503, headers, body: WORDS, end });
      expect(trace).toMatchObject({ usage_status, outcome: 'completed', response_body: KEPT });
      expect(trace.metadata).not.toHaveProperty('response_body_truncated');
    }
  });

  test('also of a request', async () => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    const trace = await traceOf({ headers: JSON_TYPE, body: '{}' }, { headers, body: Buffer.from(WORDS) });
    expect(trace).toMatchObject({ model: 'unknown', request_body: KEPT });
    expect(trace.metadata).not.toHaveProperty('request_body_truncated');
  });
});

describe('a body that was cut loses its last word, which may be half a secret', () => {
  // Half of a phone number is not recognised as one.
  const half = 'my number is 415-555';
  test.each([
    ['of JSON', 'application/json', `{"content":"${half}`, '{"content":"my number is '],
    ['of events', 'text/event-stream', `data: ${half}`, 'data: my number is '],
    ['of text', 'text/plain', half, 'my number is '],
  ])('%s', async (_name, type, body, kept) => {
    const trace = await traceOf({ headers: { 'content-type': type, 'transfer-encoding': 'chunked' }, body, end: 'cut' });
    expect(trace).toMatchObject({ outcome: 'upstream_error', response_body: kept });
    expect(trace.metadata).toMatchObject({ response_body_truncated: true });
  });

  test('a body that ends with its connection may be incomplete', async () => {
    const json = await traceOf({ headers: JSON_TYPE, body: `{"content":"${half}`, end: 'close' });
    expect(json).toMatchObject({ outcome: 'completed', response_body: '{"content":"my number is ' });
    const text = await traceOf({ headers: { 'content-type': 'text/plain' }, body: WORDS, end: 'close' });
    expect(text).toMatchObject({ outcome: 'completed', response_body: KEPT });
  });
});

describe('an encoded body that ends early is decoded as far as possible', () => {
  const USAGE = '"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14}';
  const noise = Array.from({ length: 400 }, (_, i) => (i * 7_919) % 1_000).join(' ');
  const early = (text: string, share: number) => {
    const coded = gzipSync(text);
    return coded.subarray(0, Math.floor(coded.length * share));
  };
  const GZIP = { ...JSON_TYPE, 'content-encoding': 'gzip' };

  test('its usage counts when it had arrived', async () => {
    const trace = await traceOf({ headers: GZIP, body: early(`{"model":"m",${USAGE},"content":"${noise} [end]"}`, 0.8) });
    expect(trace).toMatchObject({ usage_status: 'reported', total_tokens: 14, outcome: 'completed' });
    expect(trace.response_body).toContain(`${USAGE},"content":"0 919 838`);
    expect(trace.metadata).toMatchObject({ response_body_truncated: true });
  });

  test('and is undecodable when it had not', async () => {
    const trace = await traceOf({ headers: GZIP, body: early(`{"model":"m","content":"${noise} [end]",${USAGE}}`, 0.8) });
    expect(trace).toMatchObject({ usage_status: 'undecodable', total_tokens: 0 });
    expect(trace.response_body).toContain('{"model":"m","content":"0 919 838');
    expect(trace.response_body).not.toContain('[end]');
  });

  test('a stream that its provider cuts is partial, with any coding', async () => {
    const usage = `data: {"type":"message_start","model":"claude","message":{${USAGE}}}\n\n`;
    for (const [coding, body] of [
      ['gzip', early(`${usage}data: {"content":"${noise} [end]"}\n\n`, 0.8)],
      ['deflate', deflateRawSync(`${usage}data: {"content":"${noise}"}\n\n`).subarray(0, -300)],
    ] as const) {
      const headers = { 'content-type': 'text/event-stream', 'content-encoding': coding, 'transfer-encoding': 'chunked' };
      const trace = await traceOf({ headers, body, end: 'cut' });
      expect(trace).toMatchObject({ usage_status: 'partial', total_tokens: 14, outcome: 'upstream_error' });
      expect(trace.response_body).toContain('data: {"content":"0 919 838');
    }
  });
});
