import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addLatency, bucketOf, type LatencyCounts, percentileOf } from './latency-histogram.ts';
import { splitRange } from './split-range.ts';
import { bucketStartOf, DAY_MS, HOUR_MS } from './time-buckets.ts';
import { routeOf } from './trace-measures.ts';
import { wholeMs } from './whole-ms.ts';

test('buckets are UTC, and weeks begin on Monday', () => {
  const starts = (at: string) =>
    (['hour', 'day', 'week'] as const).map((bucket) => new Date(bucketStartOf(Date.parse(at), bucket)).toISOString());
  expect(starts('2026-11-22T23:59:59.999Z')).toEqual([
    '2026-11-22T23:00:00.000Z',
    '2026-11-22T00:00:00.000Z',
    '2026-11-16T00:00:00.000Z',
  ]);
  expect(starts('2026-11-23T00:00:00.000Z')).toEqual(Array(3).fill('2026-11-23T00:00:00.000Z'));
  expect(starts('1969-12-31T23:30:00.000Z')).toEqual([
    '1969-12-31T23:00:00.000Z',
    '1969-12-31T00:00:00.000Z',
    '1969-12-29T00:00:00.000Z',
  ]);
});

test('a route is the pattern of its provider', () => {
  expect(['openai', 'anthropic', 'unknown'].map(routeOf)).toEqual(['/openai/*', '/anthropic/*', '/other']);
});

test.each([
  [0, 0],
  [499, 0],
  [500, 1],
  [1_499, 1],
  [1_500, 2],
  [90_009, 90],
])('%i µs are %i ms', (microseconds, ms) => {
  expect(wholeMs(microseconds)).toBe(ms);
});

test('an earlier time is never shown as later', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (one, other) => {
      expect(wholeMs(Math.min(one, other))).toBeLessThanOrEqual(wholeMs(Math.max(one, other)));
    }),
  );
});

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

test('a percentile is at most 1 % away from the nearest rank', () => {
  const latency = fc.oneof(fc.nat(60), fc.nat(5_000), fc.nat(1e9));
  fc.assert(
    fc.property(fc.array(latency, { minLength: 1, maxLength: 200 }), fc.double({ min: 0, max: 1, noNaN: true }), (of, share) => {
      const counts: LatencyCounts = [];
      for (const one of of) addLatency(counts, bucketOf(one), 1);
      const exact = of.toSorted((left, right) => left - right)[Math.max(1, Math.ceil(share * of.length)) - 1] ?? 0;
      expect(Math.abs(percentileOf(counts, share) - exact)).toBeLessThanOrEqual(exact * 0.01);
    }),
    { numRuns: 500 },
  );
});

test('an hour takes a few hundred buckets', () => {
  expect(bucketOf(3_600_000)).toBeLessThan(650);
  expect([0, 1, 50, 51].map(bucketOf)).toEqual([0, 1, 50, 51]);
});
