import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
let count = 0;
beforeAll(async () => {
  gateway = await startTestGateway();
  openai = new OpenAI({ baseURL: `${gateway.url}/openai/v1`, apiKey: 'sk-proj-canary-0123456789', maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: `${gateway.url}/anthropic`, apiKey: 'sk-ant-canary-0123456789', maxRetries: 0 });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  count += 1;
});

const messages = [{ role: 'user' as const, content: 'count these five words please' }];
const codings = [undefined, 'gzip', 'br', 'zstd', 'deflate'];
const under = (coding: string | undefined) =>
  coding === undefined ? {} : { headers: { 'x-mock-scenario': coding, 'accept-encoding': coding } };

describe('the official openai package', () => {
  test.each(codings)('chat (%s)', async (coding) => {
    const { usage } = await openai.chat.completions.create({ model: 'gpt-4o-mini-2024-07-18', messages }, under(coding));
    expect(await gateway.newest(count)).toMatchObject({
      provider: 'openai',
      model: 'gpt-4o-mini-2024-07-18',
      request_path: '/openai/v1/chat/completions',
      response_status: 200,
      outcome: 'completed',
      usage_status: 'reported',
      cost_status: 'priced',
      input_tokens: usage?.prompt_tokens,
      output_tokens: usage?.completion_tokens,
      total_tokens: usage?.total_tokens,
      time_to_first_token_us: 0,
      metadata: {
        streaming: false,
        cached_input_tokens: usage?.prompt_tokens_details?.cached_tokens,
        reasoning_tokens: usage?.completion_tokens_details?.reasoning_tokens,
      },
    });
  });

  test.each(codings)('a chat stream (%s)', async (coding) => {
    const stream = await openai.chat.completions.create(
      { model: 'gpt-4o', messages, stream: true, stream_options: { include_usage: true } },
      under(coding),
    );
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) usage = chunk.usage ?? usage;
    expect(usage).toBeTruthy();
    const trace = await gateway.newest(count);
    expect(trace).toMatchObject({
      model: 'gpt-4o',
      usage_status: 'reported',
      total_tokens: usage?.total_tokens,
      metadata: { streaming: true },
    });
    expect(trace.time_to_first_token_us).toBeGreaterThan(0);
  });

  test('the usage of a chat stream that reports none is estimated', async () => {
    const stream = await openai.chat.completions.create({ model: 'gpt-4o', messages, stream: true });
    for await (const _ of stream);
    expect(await gateway.newest(count)).toMatchObject({
      usage_status: 'estimated',
      cost_status: 'estimated',
      estimated_cost_usd: 0,
    });
  });

  test('responses', async () => {
    const { usage } = await openai.responses.create({ model: 'gpt-4.1', input: 'five words go in here' });
    expect(await gateway.newest(count)).toMatchObject({
      model: 'gpt-4.1',
      input_tokens: usage?.input_tokens,
      output_tokens: usage?.output_tokens,
    });
  });

  test.each(codings)('a responses stream (%s)', async (coding) => {
    const stream = await openai.responses.create(
      { model: 'gpt-4.1', input: 'five words go in here', stream: true },
      under(coding),
    );
    let usage: OpenAI.Responses.ResponseUsage | undefined;
    for await (const event of stream) if (event.type === 'response.completed') usage = event.response.usage;
    expect(usage).toBeTruthy();
    expect(await gateway.newest(count)).toMatchObject({
      usage_status: 'reported',
      input_tokens: usage?.input_tokens,
      output_tokens: usage?.output_tokens,
      metadata: {
        cached_input_tokens: usage?.input_tokens_details.cached_tokens,
        reasoning_tokens: usage?.output_tokens_details.reasoning_tokens,
      },
    });
  });

  test('embeddings', async () => {
    const { usage } = await openai.embeddings.create({ model: 'text-embedding-3-small', input: 'some words' });
    expect(await gateway.newest(count)).toMatchObject({
      input_tokens: usage.prompt_tokens,
      output_tokens: 0,
      total_tokens: usage.total_tokens,
      cost_status: 'priced',
    });
  });
});

describe('the official anthropic package', () => {
  const total = ({ input_tokens: input, cache_creation_input_tokens: write, cache_read_input_tokens: read }: Anthropic.Usage) =>
    input + (write ?? 0) + (read ?? 0);

  test.each(codings)('messages (%s)', async (coding) => {
    const { usage } = await anthropic.messages.create({ model: 'claude-sonnet-5', max_tokens: 64, messages }, under(coding));
    expect(await gateway.newest(count)).toMatchObject({
      provider: 'anthropic',
      model: 'claude-sonnet-5',
      input_tokens: total(usage),
      output_tokens: usage.output_tokens,
      total_tokens: total(usage) + usage.output_tokens,
      cost_status: 'priced',
      metadata: {
        cached_input_tokens: usage.cache_read_input_tokens,
        cache_write_input_tokens: usage.cache_creation_input_tokens,
      },
    });
  });

  test.each(codings)('a messages stream (%s)', async (coding) => {
    const { usage } = await anthropic.messages
      .stream({ model: 'claude-sonnet-5', max_tokens: 64, messages }, under(coding))
      .finalMessage();
    expect(await gateway.newest(count)).toMatchObject({
      usage_status: 'reported',
      input_tokens: total(usage),
      output_tokens: usage.output_tokens,
    });
  });

  test('counting tokens is free', async () => {
    await anthropic.messages.countTokens({ model: 'claude-sonnet-5', messages });
    expect(await gateway.newest(count)).toMatchObject({ usage_status: 'missing', cost_status: 'free', estimated_cost_usd: 0 });
  });
});

test('no trace contains either key', async () => {
  const traces = await gateway.traces(count - 1);
  const details = await Promise.all(traces.map(({ id }) => gateway.get(`/api/traces/${id}`)));
  expect(JSON.stringify(details)).not.toContain('canary');
  expect(JSON.stringify(details)).toContain('"authorization":["[REDACTED]"]');
  expect(JSON.stringify(details)).toContain('"api_key_last4":"6789"');
});
