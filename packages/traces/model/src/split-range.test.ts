import { expect, test } from '@jest/globals';
import { DAY_MS, HOUR_MS } from './time-buckets.ts';
import { splitRange } from './split-range.ts';

const [D, H] = [DAY_MS, HOUR_MS];
const ALWAYS = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
const inPairs = (spans: readonly { from: number; before: number }[]) => spans.map(({ from, before }) => [from, before]);

test.each([
  ['all time is days', undefined, undefined, undefined, [ALWAYS], [], []],
  ['by the hour it is hours', undefined, undefined, 'hour', [], [ALWAYS], []],
  ['whole days', D, 3 * D - 1, 'week', [[D, 3 * D]], [], []],
  [
    'days, hours and parts',
    H + 1,
    2 * D + 2 * H,
    undefined,
    [[D, 2 * D]],
    [
      [2 * H, D],
      [2 * D, 2 * D + 2 * H],
    ],
    [
      [H + 1, 2 * H],
      [2 * D + 2 * H, 2 * D + 2 * H + 1],
    ],
  ],
  ['no whole day', 5 * H, D + H - 1, 'day', [], [[5 * H, D + H]], []],
  ['within an hour', H + 5, H + 9, undefined, [], [], [[H + 5, H + 10]]],
  ['to the end of an hour', H + 5, 2 * H - 1, undefined, [], [], [[H + 5, 2 * H]]],
  [
    'over the edge of an hour',
    H + 5,
    2 * H + 9,
    undefined,
    [],
    [],
    [
      [H + 5, 2 * H],
      [2 * H, 2 * H + 10],
    ],
  ],
  ['until some moment', undefined, D, undefined, [[ALWAYS[0], D]], [], [[D, D + 1]]],
] as const)('%s', (_, from, to, bucket, days, hours, parts) => {
  const split = splitRange(from, to, bucket);
  expect([inPairs(split.days), inPairs(split.hours), inPairs(split.parts)]).toEqual([days, hours, parts]);
});
