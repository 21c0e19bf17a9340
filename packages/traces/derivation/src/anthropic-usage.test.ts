import { describe, expect, test } from '@jest/globals';
import { anthropicUsage } from './anthropic-usage.ts';
import { NO_TOKENS, type TokenCounts } from './token-counts.ts';
import type { Fields } from './usage-report.ts';

const read = (fields: Fields, isHourAsked = false) => anthropicUsage(fields, () => isHourAsked);
const counts = (of: Partial<TokenCounts>): TokenCounts => ({ ...NO_TOKENS, ...of });
/** One call without anything in doubt. */
const exactly = (of: Partial<TokenCounts>, reasoning = 0) => {
  const same = counts(of);
  return { shown: same, reasoning, least: same, most: same, isDoubtful: false };
};

describe('cache writes', () => {
  const written = (fields: Fields, isHourAsked = false) => {
    const [call, ...more] = read({ input_tokens: 10, output_tokens: 1, ...fields }, isHourAsked) ?? [];
    expect(more).toEqual([]);
    const writesOf = (of?: TokenCounts) => of && [of.input - 10, of.cacheWrite, of.cacheWrite1h];
    return {
      shown: writesOf(call?.shown),
      least: writesOf(call?.least),
      most: writesOf(call?.most),
      isDoubtful: call?.isDoubtful,
    };
  };
  /** All input but the fresh, all writes, those of an hour. */
  const sure = (all: number, hour: number) => ({
    shown: [all, all, hour],
    least: [all, all, hour],
    most: [all, all, hour],
    isDoubtful: false,
  });

  test.each<[string, Fields, number, number]>([
    ['none', {}, 0, 0],
    ['null', { cache_creation_input_tokens: null, cache_creation: null }, 0, 0],
    ['of five minutes', { cache_creation_input_tokens: 90, cache_creation: { ephemeral_5m_input_tokens: 90 } }, 90, 0],
    ['of an hour', { cache_creation_input_tokens: 90, cache_creation: { ephemeral_1h_input_tokens: 90 } }, 90, 90],
    [
      'of both',
      { cache_creation_input_tokens: 90, cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 30 } },
      90,
      30,
    ],
    ['without their sum', { cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 30 } }, 90, 30],
    [
      'beside an hour alone the rest was short',
      { cache_creation_input_tokens: 90, cache_creation: { ephemeral_1h_input_tokens: 30 } },
      90,
      30,
    ],
    [
      'beside five minutes alone the rest was short',
      { cache_creation_input_tokens: 90, cache_creation: { ephemeral_5m_input_tokens: 60 } },
      90,
      0,
    ],
    [
      'an unknown time without tokens',
      { cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: 9, ephemeral_24h_input_tokens: 0 } },
      9,
      9,
    ],
  ])('%s', (_, fields, all, hour) => {
    expect(written(fields)).toEqual(sure(all, hour));
  });

  test('without parts are of five minutes, unless the request asks for an hour', () => {
    for (const parts of [undefined, null, {}]) {
      const fields = { cache_creation_input_tokens: 90, cache_creation: parts };
      expect(written(fields)).toEqual(sure(90, 0));
      expect(written(fields, true)).toEqual({ ...sure(90, 0), most: [90, 90, 90] });
    }
    expect(written({ cache_creation_input_tokens: 0 }, true)).toEqual(sure(0, 0));
  });

  test('beside both parts the rest may be of either time', () => {
    const parts = { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 };
    const expected = { shown: [90, 90, 30], least: [90, 90, 30], most: [90, 90, 70], isDoubtful: false };
    expect(written({ cache_creation_input_tokens: 90, cache_creation: parts })).toEqual(expected);
  });

  test('that are more than their sum are the sum at the least, and the parts at the most', () => {
    const parts = { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 };
    const found = written({ cache_creation_input_tokens: 90, cache_creation: parts });
    expect(found).toMatchObject({ least: [90, 90, 0], most: [100, 100, 40] });
  });

  test.each<[string, unknown]>([
    ['a list', [90]],
    ['a number', 90],
    ['text', 'x'],
    ['an unknown time', { ephemeral_24h_input_tokens: 90 }],
    ['an unknown part of an odd type', { ephemeral_24h_input_tokens: 'x' }],
    ['a part of an odd type', { ephemeral_1h_input_tokens: '90' }],
    ['a negative part', { ephemeral_5m_input_tokens: -1 }],
  ])('whose time is not understood are of an hour at the most: %s', (_, cache_creation) => {
    const expected = { shown: [90, 90, 0], least: [90, 90, 0], most: [90, 90, 90], isDoubtful: true };
    expect(written({ cache_creation_input_tokens: 90, cache_creation })).toEqual(expected);
  });

  test('of an unknown time count without their sum', () => {
    const { most, isDoubtful } = written({ cache_creation: { ephemeral_24h_input_tokens: 90 } });
    expect({ most, isDoubtful }).toEqual({ most: [90, 90, 90], isDoubtful: true });
  });

  test('of an hour that are more than their sum were of five minutes at the least, also beside an unknown time', () => {
    const parts = { ephemeral_1h_input_tokens: 50, ephemeral_24h_input_tokens: 1 };
    expect(written({ cache_creation_input_tokens: 20, cache_creation: parts })).toMatchObject({ least: [20, 20, 0] });
  });

  test('are their known parts at the most, beside a part that is not understood, too', () => {
    const parts = { ephemeral_1h_input_tokens: 50, ephemeral_24h_input_tokens: 1 };
    expect(written({ cache_creation_input_tokens: 20, cache_creation: parts }).most?.[1]).toBeGreaterThanOrEqual(50);
  });

  test.each(['90', -1, 1.5, 1e9 + 1, []])('of the sum %j are their parts, in doubt', (sum) => {
    const found = written({ cache_creation_input_tokens: sum, cache_creation: { ephemeral_1h_input_tokens: 30 } });
    expect(found).toEqual({ ...sure(30, 30), isDoubtful: true });
  });
});

test('reads and writes are added to the input, and thinking is in the output', () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 30, output_tokens: 50 };
  const expected = exactly({ input: 240, cached: 200, cacheWrite: 30, output: 50 }, 40);
  expect(read({ ...usage, output_tokens_details: { thinking_tokens: 40 } })).toEqual([expected]);
});

test('thinking above the output comes on top of it at the most', () => {
  const [call] = read({ input_tokens: 1, output_tokens: 5, output_tokens_details: { thinking_tokens: 9 } }) ?? [];
  expect(call).toMatchObject({ least: { output: 5 }, most: { output: 14 } });
});

test.each(['5', -1, 0.5, {}])('reads of %j are none, in doubt', (reads) => {
  const fields = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: reads };
  expect(read(fields)).toEqual([{ ...exactly({ input: 3, output: 4 }), isDoubtful: true }]);
});

test.each([
  {},
  { input_tokens: null },
  { cache_read_input_tokens: 5 },
  { output_tokens: '5' },
  { input_tokens: 5, output_tokens: -1 },
])('%j is no usage', (fields) => expect(read(fields)).toBeUndefined());

describe('iterations', () => {
  const entry = (type: unknown, input: number, output: number, more: Fields = {}) => ({
    type,
    input_tokens: input,
    output_tokens: output,
    ...more,
  });
  const list = (input: number, output: number, iterations: unknown, more: Fields = {}) =>
    read({ input_tokens: input, output_tokens: output, iterations, ...more })?.map(
      ({ model, shown, least, most, isDoubtful }) => ({
        ...(model !== undefined && { model }),
        shown: [shown.input, shown.output],
        ...(least !== shown && { least: [least.input, least.output] }),
        ...(most !== shown && { most: [most.input, most.output] }),
        ...(isDoubtful && { isDoubtful }),
      }),
    );
  const one = (input: number, output: number) => ({ shown: [input, output] });

  test('that add up to the totals are calls of their own', () => {
    expect(list(30, 3, [entry('message', 10, 1), entry('message', 20, 2)])).toEqual([one(10, 1), one(20, 2)]);
  });

  test('that no total contains are calls beside it', () => {
    const advisor = entry('advisor_message', 7, 8, { model: 'claude-opus-5' });
    const calls = list(10, 1, [entry('compaction', 90, 9), advisor, entry('message', 10, 1)]);
    expect(calls).toEqual([one(90, 9), { model: 'claude-opus-5', ...one(7, 8) }, one(10, 1)]);
  });

  test('without a message leave the totals, unless these are empty', () => {
    expect(list(10, 1, [entry('compaction', 90, 9)])).toEqual([one(90, 9), one(10, 1)]);
    expect(list(0, 0, [entry('compaction', 90, 9)])).toEqual([one(90, 9)]);
    expect(list(10, 1, [])).toEqual([one(10, 1)]);
    expect(list(10, 1, null)).toEqual([one(10, 1)]);
  });

  test.each([[[]], [[null]]])('of %j beside totals of 0 leave a call, so that the exchange has a price of 0', (iterations) => {
    expect(list(0, 0, iterations)).toMatchObject([one(0, 0)]);
  });

  test('a fallback is in the totals, and the refused message before it is not', () => {
    const fallback = entry('fallback_message', 20, 2, { model: 'claude-sonnet-5' });
    const calls = list(20, 2, [entry('message', 10, 1, { model: 'claude-opus-5' }), fallback]);
    expect(calls).toEqual([
      { model: 'claude-opus-5', ...one(10, 1) },
      { model: 'claude-sonnet-5', ...one(20, 2) },
    ]);
  });

  test('of an unknown type may be charged', () => {
    const calls = list(10, 1, [entry('review', 5, 6), entry('message', 10, 1)]);
    expect(calls).toEqual([{ shown: [5, 6], least: [0, 0], isDoubtful: true }, one(10, 1)]);
  });

  test('that contradict the totals bound them, count by count', () => {
    const twice = [entry('message', 10, 4), entry('message', 20, 4)];
    expect(list(25, 9, twice)).toEqual([{ shown: [30, 8], least: [25, 8], most: [30, 9], isDoubtful: true }]);
    expect(list(40, 5, [entry('compaction', 7, 7), ...twice])?.[0]).toEqual(one(7, 7));
  });

  test('that differ only in what was cached contradict the totals, too', () => {
    const cached = entry('message', 4, 1, { cache_read_input_tokens: 6 });
    expect(list(10, 1, [cached])).toMatchObject([{ isDoubtful: true }]);
  });

  test('have writes of their own time, although the totals do not tell it', () => {
    const parts = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 6 };
    const iterations = [entry('message', 4, 1, { cache_creation_input_tokens: 6, cache_creation: parts })];
    const fields = { input_tokens: 4, output_tokens: 1, cache_creation_input_tokens: 6, iterations };
    const expected = exactly({ input: 10, cacheWrite: 6, cacheWrite1h: 6, output: 1 });
    expect(read(fields)).toMatchObject([expected]);
  });

  test('without a size of their own have the reasoning of the totals once', () => {
    const details = { output_tokens_details: { thinking_tokens: 5 } };
    const calls = read({ ...entry('', 30, 9), iterations: [entry('message', 10, 4), entry('message', 20, 5)], ...details });
    expect(calls?.map(({ reasoning }) => reasoning)).toEqual([5, 0]);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['no object', 5],
    ['without a type', { input_tokens: 5, output_tokens: 5 }],
    ['of an odd type', entry(7, 5, 5)],
    ['without counts', { type: 'compaction' }],
    ['with a negative count', entry('compaction', -5, 5)],
    ['with a count as text', { type: 'compaction', input_tokens: '5', output_tokens: 5 }],
  ])('one that cannot be read leaves the others, in doubt: %s', (_, broken) => {
    const doubtful = { ...one(10, 1), isDoubtful: true };
    expect(list(10, 1, [broken, entry('message', 10, 1)])).toEqual([doubtful]);
    expect(list(10, 1, [broken])).toEqual([doubtful]);
  });

  test.each(['x', 5, true, {}])('%j is no list: the totals, in doubt', (iterations) => {
    expect(list(10, 1, iterations)).toEqual([{ ...one(10, 1), isDoubtful: true }]);
  });
});
