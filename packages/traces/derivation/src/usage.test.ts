import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readUsage, type Usage } from './usage.ts';

const NONE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  cache_write_1h_input_tokens: 0,
  reasoning_tokens: 0,
};

describe('readUsage', () => {
  test.each<[string, unknown, Partial<Usage>]>([
    [
      'OpenAI chat: input has cached tokens in it',
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10, audio_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 3, accepted_prediction_tokens: 1 },
      },
      {
        input_tokens: 100,
        output_tokens: 50,
        total_tokens: 150,
        cached_input_tokens: 60,
        cache_write_input_tokens: 10,
        reasoning_tokens: 20,
        audio_input_tokens: 5,
        audio_output_tokens: 3,
      },
    ],
    [
      'OpenAI Responses',
      {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 0 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 40 },
        total_tokens: 150,
      },
      { input_tokens: 100, output_tokens: 50, total_tokens: 150, cached_input_tokens: 60, reasoning_tokens: 40 },
    ],
    ['OpenAI embeddings', { prompt_tokens: 8, total_tokens: 8 }, { input_tokens: 8, total_tokens: 8 }],
    [
      'OpenAI images',
      { input_tokens: 50, output_tokens: 4160, total_tokens: 4210, input_tokens_details: { text_tokens: 10, image_tokens: 40 } },
      { input_tokens: 50, output_tokens: 4160, total_tokens: 4210, image_input_tokens: 40 },
    ],
    [
      'OpenAI transcription by tokens',
      {
        type: 'tokens',
        input_tokens: 14,
        input_token_details: { text_tokens: 4, audio_tokens: 10 },
        output_tokens: 6,
        total_tokens: 20,
      },
      { input_tokens: 14, output_tokens: 6, total_tokens: 20, audio_input_tokens: 10 },
    ],
    [
      'Anthropic: cache reads and writes are added to input',
      {
        input_tokens: 10,
        cache_creation_input_tokens: 300,
        cache_read_input_tokens: 2000,
        cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
        output_tokens: 7,
        server_tool_use: { web_search_requests: 2 },
        service_tier: 'standard',
      },
      {
        input_tokens: 2310,
        output_tokens: 7,
        total_tokens: 2317,
        cached_input_tokens: 2000,
        cache_write_input_tokens: 300,
        cache_write_1h_input_tokens: 100,
        web_search_requests: 2,
      },
    ],
    [
      'Anthropic without the sum of its cache writes',
      { input_tokens: 1, cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 }, output_tokens: 4 },
      { input_tokens: 6, output_tokens: 4, total_tokens: 10, cache_write_input_tokens: 5, cache_write_1h_input_tokens: 3 },
    ],
    [
      'Anthropic with a total, as some proxies add',
      { input_tokens: 5, cache_read_input_tokens: 10, output_tokens: 1, total_tokens: 16 },
      { input_tokens: 15, output_tokens: 1, total_tokens: 16, cached_input_tokens: 10 },
    ],
    [
      'Anthropic with a total and cache writes by their time',
      { input_tokens: 5, cache_creation: { ephemeral_5m_input_tokens: 3 }, output_tokens: 1, total_tokens: 9 },
      { input_tokens: 8, output_tokens: 1, total_tokens: 9, cache_write_input_tokens: 3 },
    ],
    [
      'Anthropic with thinking: the tokens are reasoning, and are in the output',
      { input_tokens: 9, output_tokens: 40, output_tokens_details: { thinking_tokens: 30 } },
      { input_tokens: 9, output_tokens: 40, total_tokens: 49, reasoning_tokens: 30 },
    ],
    ['Anthropic without a cache', { input_tokens: 9, output_tokens: 4 }, { input_tokens: 9, output_tokens: 4, total_tokens: 13 }],
    [
      'a proxy that says both: prompt_tokens has the cache in it',
      { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55, cache_read_input_tokens: 30 },
      { input_tokens: 50, output_tokens: 5, total_tokens: 55, cached_input_tokens: 30 },
    ],
    [
      'wrong types and absurd counts are ignored',
      { prompt_tokens: '5', completion_tokens: -1, total_tokens: 7, prompt_tokens_details: [] },
      { total_tokens: 7 },
    ],
    [
      'too many, or half a token',
      { prompt_tokens: 1e12 + 1, completion_tokens: 2.5, input_tokens: 1e12 },
      { input_tokens: 1e12, total_tokens: 1e12 },
    ],
  ])('%s', (_, raw, expected) => {
    expect(readUsage(raw)).toEqual({ ...NONE, ...expected });
  });

  test.each([
    null,
    undefined,
    5,
    'x',
    [],
    {},
    { type: 'duration', seconds: 3 },
    { prompt_tokens: Number.NaN },
    { input_tokens: null },
  ])('%j without a count is not usage and keeps previous counts', (raw) => {
    expect(readUsage(raw)).toBeUndefined();
    const previous = { ...NONE, input_tokens: 3 };
    expect(readUsage(raw, previous)).toBe(previous);
  });

  test('Anthropic streams: later counts replace earlier ones, null and absence keep them', () => {
    const start = readUsage({
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 20,
      output_tokens: 1,
    });
    const first = readUsage({ output_tokens: 30, input_tokens: null, cache_read_input_tokens: null }, start);
    expect(first).toEqual({ ...start, output_tokens: 30, total_tokens: 160 });
    const second = readUsage({ input_tokens: 12, output_tokens: 40 }, first);
    expect(second).toMatchObject({ input_tokens: 132, output_tokens: 40, total_tokens: 172, cached_input_tokens: 100 });
    const third = readUsage({ input_tokens: 12, cache_read_input_tokens: 0, output_tokens: 50 }, second);
    expect(third).toMatchObject({ input_tokens: 32, output_tokens: 50, total_tokens: 82, cached_input_tokens: 0 });
    expect(readUsage({ input_tokens: 13 }, third)).toMatchObject({ input_tokens: 33, output_tokens: 50, total_tokens: 83 });
  });

  test('Anthropic streams: details without a count are kept and change no other', () => {
    const start = readUsage({ input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 });
    const delta = { output_tokens: 40, output_tokens_details: { thinking_tokens: 30 }, server_tool_use: null };
    const first = readUsage(delta, start);
    expect(first).toEqual({ ...start, output_tokens: 40, total_tokens: 55, reasoning_tokens: 30 });
    const searches = { output_tokens: null, server_tool_use: { web_search_requests: 2 } };
    const second = readUsage(searches, first);
    expect(second).toEqual({ ...first, web_search_requests: 2 });
    expect(readUsage({ output_tokens_details: { thinking_tokens: 31 } }, second)).toEqual({ ...second, reasoning_tokens: 31 });
    const total = readUsage({ total_tokens: 7 });
    expect(readUsage({ output_tokens_details: { reasoning_tokens: 2 } }, total)).toEqual({ ...total, reasoning_tokens: 2 });
  });

  test('never throws, and returns only whole numbers', () => {
    const names = fc.constantFrom(
      'prompt_tokens',
      'input_tokens',
      'output_tokens',
      'total_tokens',
      'cache_read_input_tokens',
      'cache_creation',
    );
    const raw = fc.dictionary(names, fc.anything());
    fc.assert(
      fc.property(raw, raw, (one, two) => {
        const usage = readUsage(two, readUsage(one));
        if (usage !== undefined)
          expect(Object.values(usage).every((count) => Number.isInteger(count) && Number(count) >= 0)).toBe(true);
      }),
    );
  });
});
