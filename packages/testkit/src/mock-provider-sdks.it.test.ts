import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { startMockAnthropic } from './mock-anthropic.ts';
import { startMockOpenai } from './mock-openai.ts';
import type { MockProvider } from './mock-provider.ts';
import { pseudoRandomBytes } from './pseudo-random-bytes.ts';
import { SCENARIO_HEADER } from './scenario.ts';
import { tokenCounts } from './token-counts.ts';

const TEXT = 'The größte Schaufenster 展示窗 glänzt ✨😀 ';
const PROMPT = 'Say hello to all the nice people of Vienna today'; // 10 words
const COUNTS = tokenCounts(10, 5);
const TOTAL = COUNTS.input + COUNTS.output;
const MESSAGES = [{ role: 'user' as const, content: PROMPT }];

let openaiMock: MockProvider;
let anthropicMock: MockProvider;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  openaiMock = await startMockOpenai();
  anthropicMock = await startMockAnthropic();
  openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${openaiMock.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: 'sk-ant-test', baseURL: anthropicMock.url, maxRetries: 0 });
});
afterAll(async () => {
  await openaiMock[Symbol.asyncDispose]();
  await anthropicMock[Symbol.asyncDispose]();
});

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}
const withScenario = (scenario: string) => ({ headers: { [SCENARIO_HEADER]: scenario } });

describe('the openai SDK', () => {
  const model = 'gpt-4o-2024-08-06';
  const usage = {
    prompt_tokens: COUNTS.input,
    completion_tokens: COUNTS.output,
    total_tokens: TOTAL,
    prompt_tokens_details: { cached_tokens: COUNTS.cacheRead, cache_write_tokens: COUNTS.cacheWrite },
    completion_tokens_details: { reasoning_tokens: COUNTS.reasoning },
  };
  const responseUsage = {
    input_tokens: COUNTS.input,
    input_tokens_details: { cached_tokens: COUNTS.cacheRead, cache_write_tokens: COUNTS.cacheWrite },
    output_tokens: COUNTS.output,
    output_tokens_details: { reasoning_tokens: COUNTS.reasoning },
    total_tokens: TOTAL,
  };

  test('chat', async () => {
    const { data, response, request_id } = await openai.chat.completions.create({ model, messages: MESSAGES }).withResponse();
    expect(data).toMatchObject({ object: 'chat.completion', model, choices: [{ message: { content: TEXT } }], usage });
    expect(request_id).toMatch(/^req_/);
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('10000');
    expect(response.headers.getSetCookie()).toEqual([expect.stringContaining('__cf_bm=')]);
  });

  test.each([[true], [false]])('chat stream, include_usage %s', async (include_usage) => {
    const stream = await openai.chat.completions.create({
      model,
      messages: MESSAGES,
      stream: true,
      ...(include_usage ? { stream_options: { include_usage } } : {}),
    });
    const chunks = await all(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(TEXT);
    expect(chunks.every((chunk) => chunk.model === model)).toBe(true);
    if (include_usage) expect(chunks.pop()).toMatchObject({ choices: [], usage });
    expect(new Set(chunks.map((chunk) => chunk.usage))).toEqual(new Set([include_usage ? null : undefined]));
  });

  test('responses', async () => {
    const response = await openai.responses.create({ model, input: PROMPT });
    expect(response).toMatchObject({ object: 'response', status: 'completed', model, output_text: TEXT, usage: responseUsage });
  });

  test('responses stream', async () => {
    const input = [{ role: 'user' as const, content: [{ type: 'input_text' as const, text: PROMPT }] }];
    const events = await all(await openai.responses.create({ model, input, stream: true }));
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('')).toBe(TEXT);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed', usage: responseUsage } });
    const final = await openai.responses.stream({ model, input }).finalResponse();
    expect(final.output_text).toBe(TEXT);
  });

  test('embeddings, as floats and as base64', async () => {
    const params = { model: 'text-embedding-3-small', input: ['two words', 'and three more'], dimensions: 4 };
    const decoded = await openai.embeddings.create(params);
    const floats = await openai.embeddings.create({ ...params, encoding_format: 'float' });
    expect(decoded).toMatchObject({ model: params.model, usage: { prompt_tokens: 5, total_tokens: 5 } });
    expect(decoded.data.map((one) => one.embedding)).toEqual(floats.data.map((one) => one.embedding));
    expect(decoded.data[1]?.embedding).toEqual([0.125, 0.25, 0.375, 0.5]);
  });

  test.each([
    ['gpt-4o-transcribe', { type: 'tokens', input_tokens: 30, output_tokens: 6, total_tokens: 36 }],
    ['whisper-1', { type: 'duration', seconds: 3 }],
  ])('transcriptions by %s', async (model, usage) => {
    const file = new File([pseudoRandomBytes(40_000)], 'sound.wav');
    expect(await openai.audio.transcriptions.create({ model, file })).toMatchObject({ text: TEXT, usage });
  });

  test('models', async () => {
    const models = await all(await openai.models.list());
    expect(models.map((one) => one.id)).toContain('whisper-1');
  });

  test('an error inside a stream', async () => {
    const chat = await openai.chat.completions.create(
      { model, messages: MESSAGES, stream: true },
      withScenario('error-in-stream'),
    );
    await expect(all(chat)).rejects.toThrow('The server had an error');
    const events = await all(
      await openai.responses.create({ model, input: PROMPT, stream: true }, withScenario('error-in-stream')),
    );
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' } },
    });
  });

  test('a status', async () => {
    const response = openai.chat.completions.create({ model, messages: MESSAGES }, withScenario('status=429'));
    await expect(response).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  });
});

describe('the anthropic SDK', () => {
  const model = 'claude-haiku-4-5-20251001';
  const params = {
    model,
    max_tokens: 100,
    system: 'Say hello to all',
    messages: [{ role: 'user' as const, content: 'the nice people of Vienna today' }],
  };
  const usage = {
    input_tokens: COUNTS.input - COUNTS.cacheRead - COUNTS.cacheWrite,
    cache_creation_input_tokens: COUNTS.cacheWrite,
    cache_read_input_tokens: COUNTS.cacheRead,
    output_tokens: COUNTS.output,
    output_tokens_details: { thinking_tokens: COUNTS.reasoning },
  };
  const cache_creation = { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 2 };

  test('messages', async () => {
    const { data, response, request_id } = await anthropic.messages.create(params).withResponse();
    const content = [{ type: 'text', text: TEXT }];
    expect(data).toMatchObject({ type: 'message', model, content, usage: { ...usage, cache_creation } });
    expect(request_id).toMatch(/^req_/);
    expect(response.headers.get('anthropic-ratelimit-requests-limit')).toBe('4000');
  });

  test('messages stream', async () => {
    const events = await all(await anthropic.messages.create({ ...params, stream: true }));
    const deltas = Array.from({ length: 5 }, () => 'content_block_delta');
    const types = ['message_start', 'content_block_start', ...deltas, 'content_block_stop', 'message_delta', 'message_stop'];
    expect(events.map((event) => event.type)).toEqual(types);
    expect(events[0]).toMatchObject({
      message: { model, usage: { input_tokens: usage.input_tokens, output_tokens: 1, cache_creation } },
    });
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage });
    const final = await anthropic.messages.stream(params).finalMessage();
    expect(final).toMatchObject({ content: [{ type: 'text', text: TEXT }], usage });
  });

  test('count_tokens and models', async () => {
    expect(await anthropic.messages.countTokens({ model, messages: MESSAGES })).toEqual({ input_tokens: COUNTS.input });
    const models = await all(await anthropic.models.list());
    expect(models.map((one) => one.id)).toContain(model);
  });

  test('an error inside a stream, and a status', async () => {
    const stream = await anthropic.messages.create({ ...params, stream: true }, withScenario('error-in-stream'));
    await expect(all(stream)).rejects.toMatchObject({ error: { error: { type: 'overloaded_error' } } });
    const response = anthropic.messages.create(params, withScenario('status=529'));
    await expect(response).rejects.toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } });
  });
});
