import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { rawExchange } from '../../testing/raw-exchange.ts';
import { startScriptedProvider, type ScriptedResponse } from '../../testing/scripted-provider.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

// Content types and codings are compared without case. Spec: G11.17.

let script: ScriptedResponse;
let provider: Awaited<ReturnType<typeof startScriptedProvider>>;
let gateway: TestGateway;
let count = 0;
beforeAll(async () => {
  provider = await startScriptedProvider(() => script);
  gateway = await startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: provider.url });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function traceOf(
  response: ScriptedResponse,
  request: Parameters<typeof rawExchange>[1] = { body: Buffer.from('{"model":"gpt-4o-mini"}') },
) {
  script = response;
  await rawExchange(`${gateway.url}/openai/v1/chat/completions`, request);
  return gateway.newest((count += 1));
}

const USAGE = '"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14}';
const JSON_BODY = `{"id":"c","model":"gpt-4o-mini",${USAGE}}`;
const STREAM = `data: {"model":"gpt-4o-mini","choices":[]}\n\ndata: {"choices":[],${USAGE}}\n\ndata: [DONE]\n\n`;
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('a response', () => {
  test.each(['Text/Event-Stream', 'TEXT/EVENT-STREAM; charset=UTF-8', 'text/Event-stream;charset=utf-8'])(
    'of type %s is a stream',
    async (type) => {
      const trace = await traceOf({ headers: { 'content-type': type }, body: STREAM, end: 'chunked' });
      expect(trace).toMatchObject({ usage_status: 'reported', total_tokens: 14, metadata: { streaming: true } });
      expect(trace.time_to_first_token_us).toBeGreaterThan(0);
    },
  );

  test.each(['Application/JSON', 'application/Json; Charset=utf-8', 'APPLICATION/VND.X+JSON'])(
    'of type %s is JSON',
    async (type) => {
      const trace = await traceOf({ headers: { 'CONTENT-TYPE': type }, body: JSON_BODY });
      expect(trace).toMatchObject({ usage_status: 'reported', total_tokens: 14, metadata: { streaming: false } });
    },
  );

  test.each([
    ['GZIP', gzipSync(JSON_BODY)],
    ['X-GZip', gzipSync(JSON_BODY)],
    ['Br', brotliCompressSync(JSON_BODY)],
    ['Identity', JSON_BODY],
    ['Identity, GZip', gzipSync(JSON_BODY)],
  ])('with coding %s is decoded', async (coding, body) => {
    const trace = await traceOf({ headers: { ...JSON_TYPE, 'Content-Encoding': coding }, body });
    expect(trace).toMatchObject({ usage_status: 'reported', total_tokens: 14, cost_status: 'priced' });
  });

  test.each(['GZIP', 'IDENTITY'])('that is a stream with coding %s is decoded', async (coding) => {
    const headers = { 'content-type': 'TEXT/event-stream', 'Content-Encoding': coding };
    const trace = await traceOf({ headers, body: coding === 'GZIP' ? gzipSync(STREAM) : STREAM, end: 'chunked' });
    expect(trace).toMatchObject({ usage_status: 'reported', total_tokens: 14, metadata: { streaming: true } });
  });
});

describe('a request', () => {
  const NO_MODEL = { headers: JSON_TYPE, body: `{${USAGE}}` };
  test.each([
    ['Application/JSON', '', (text: string) => Buffer.from(text)],
    ['APPLICATION/JSON; charset=UTF-8', 'Identity', (text: string) => Buffer.from(text)],
    ['Application/json', 'GZip', (text: string) => gzipSync(text)],
  ])('of type %s with coding %j has its model', async (type, coding, encode) => {
    const headers = { 'content-type': type, ...(coding === '' ? {} : { 'content-encoding': coding }) };
    const trace = await traceOf(NO_MODEL, { headers, body: encode('{"messages":[],"model":"gpt-4o"}') });
    expect(trace).toMatchObject({ model: 'gpt-4o', cost_status: 'priced' });
  });
});
