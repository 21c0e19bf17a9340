import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { NO_FACTS } from './body-facts.ts';
import { NO_TOKENS, type TokenCounts } from './token-counts.ts';
import { withUsage, type UsageReport } from './usage-report.ts';
import { readUsage, type Usage, type UsageForm } from './usage.ts';

interface Expected extends Partial<Omit<Usage, 'calls' | 'isPartial'>> {
  readonly counts?: Partial<TokenCounts>;
}
const NONE = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  reasoning_tokens: 0,
};

function read(provider: UsageForm['provider'], ...reports: readonly unknown[]) {
  const usage = reports.reduce<UsageReport | undefined>(withUsage, undefined);
  return readUsage({ ...NO_FACTS, usage, isUsageFinal: true }, { provider, medium: undefined, asksForHour: () => false });
}

describe('readUsage', () => {
  test.each<[string, unknown, Expected]>([
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
        counts: { audioIn: 5, audioOut: 3 },
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
      { input_tokens: 50, output_tokens: 4160, total_tokens: 4210, counts: { imageIn: 40 } },
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
      { input_tokens: 14, output_tokens: 6, total_tokens: 20, counts: { audioIn: 10 } },
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
        counts: { cacheWrite1h: 100 },
      },
    ],
    [
      'Anthropic without the sum of its cache writes',
      { input_tokens: 1, cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 }, output_tokens: 4 },
      { input_tokens: 6, output_tokens: 4, total_tokens: 10, cache_write_input_tokens: 5, counts: { cacheWrite1h: 3 } },
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
  ])('%s', (name, raw, { counts, ...expected }) => {
    const usage = read(name.startsWith('Anthropic') ? 'anthropic' : 'openai', raw);
    expect(usage).toMatchObject({ ...NONE, ...expected, isPartial: false });
    if (counts !== undefined) expect(usage).toMatchObject({ calls: [{ shown: counts }] });
  });

  test('seconds are a usage without tokens', () => {
    const usage = read('openai', { type: 'duration', seconds: 3.5 });
    expect(usage).toMatchObject({ ...NONE, calls: [{ shown: { ...NO_TOKENS, seconds: 3.5 } }] });
  });

  test.each([null, undefined, {}, { prompt_tokens: null }, { details: 5 }])('%j reports nothing', (raw) => {
    expect(read('openai', raw)).toBeUndefined();
    expect(read('openai', { prompt_tokens: 3 }, raw)).toMatchObject({ input_tokens: 3 });
  });

  test.each([
    5,
    'x',
    [],
    true,
    { prompt_tokens: '5', completion_tokens: 5 },
    { prompt_tokens: 5, completion_tokens: -1 },
    { prompt_tokens: 1e9 + 1 },
    { completion_tokens: 2.5 },
    { type: 'duration', seconds: -1 },
    { type: 'words', seconds: 1 },
  ])('%j is no usage', (raw) => {
    expect(read('openai', raw)).toBe('undecodable');
  });

  test('a report that cannot be read leaves the earlier one, which is then partial', () => {
    for (const raw of [5, [], { prompt_tokens: 7, completion_tokens: 'x' }])
      expect(read('openai', { prompt_tokens: 7, completion_tokens: 1 }, raw)).toMatchObject({ total_tokens: 8, isPartial: true });
  });

  test('Anthropic streams: later counts replace earlier ones, null and absence keep them', () => {
    const start = { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 };
    const first = { output_tokens: 30, input_tokens: null, cache_read_input_tokens: null };
    expect(read('anthropic', start, first)).toMatchObject({ input_tokens: 130, output_tokens: 30, total_tokens: 160 });
    const second = { input_tokens: 12, output_tokens: 40, output_tokens_details: { thinking_tokens: 30 } };
    const grown = { input_tokens: 132, output_tokens: 40, cached_input_tokens: 100, reasoning_tokens: 30 };
    expect(read('anthropic', start, first, second)).toMatchObject(grown);
    const third = { cache_read_input_tokens: 0, output_tokens: 50 };
    const last = { input_tokens: 32, output_tokens: 50, cached_input_tokens: 0, reasoning_tokens: 30 };
    expect(read('anthropic', start, first, second, third)).toMatchObject(last);
  });

  test('a stream cannot make a report grow', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => ({ [`field${at}`]: at, prompt_tokens: at }));
    const report = names.reduce<UsageReport | undefined>(withUsage, undefined);
    expect(Object.keys(report?.fields ?? {}).length).toBeLessThan(5);
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
        for (const provider of ['openai', 'anthropic'] as const) {
          const usage = read(provider, one, two);
          if (usage === undefined || usage === 'undecodable') continue;
          const counts = usage.calls.flatMap(({ shown, least, most }) =>
            [shown, least, most].flatMap((of): number[] => Object.values<number>({ ...of })),
          );
          expect([...counts, usage.total_tokens].every((count) => Number.isInteger(count) && count >= 0)).toBe(true);
        }
      }),
    );
  });
});
