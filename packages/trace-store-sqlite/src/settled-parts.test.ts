import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bucketStartOf, BUCKETS, DAY_MS, HOUR_MS } from '@vitrine/traces/trace-analytics';
import { settledParts } from './settled-parts.ts';

const [D, H] = [DAY_MS, HOUR_MS];
const NEVER = Number.POSITIVE_INFINITY;

test.each([
  ['all time, nothing unsettled', undefined, undefined, 'hour', NEVER, [['settled', undefined, undefined]]],
  [
    'all time',
    undefined,
    undefined,
    'hour',
    5 * H + 1,
    [
      ['settled', undefined, 5 * H - 1],
      ['not', 5 * H, undefined],
    ],
  ],
  [
    'within buckets at both ends',
    H + 1,
    9 * H,
    'hour',
    NEVER,
    [
      ['not', H + 1, 2 * H - 1],
      ['settled', 2 * H, 9 * H - 1],
      ['not', 9 * H, 9 * H],
    ],
  ],
  ['whole buckets', D, 3 * D - 1, 'day', NEVER, [['settled', D, 3 * D - 1]]],
  [
    'an unsettled end',
    D,
    3 * D - 1,
    'day',
    2 * D + H,
    [
      ['settled', D, 2 * D - 1],
      ['not', 2 * D, 3 * D - 1],
    ],
  ],
  ['no whole bucket', H + 1, 3 * H - 2, 'hour', 2 * H, [['not', H + 1, 3 * H - 2]]],
  ['unsettled from the first bucket on', D, 9 * D, 'day', D, [['not', D, 9 * D]]],
  ['unsettled before all of it', 5 * D, undefined, 'day', D, [['not', 5 * D, undefined]]],
] as const)('%s', (_, from, to, bucket, unsettledFrom, parts) => {
  const found = settledParts(from, to, bucket, unsettledFrom);
  expect(found.map((part) => [part.isSettled ? 'settled' : 'not', part.from, part.to])).toEqual(parts);
});

test('parts are the range, one after the other, and divide no bucket', () => {
  const moment = fc.integer({ min: -3 * D, max: 20 * D });
  const maybe = fc.option(moment, { nil: undefined });
  fc.assert(
    fc.property(
      maybe,
      maybe,
      fc.constantFrom(...BUCKETS),
      fc.oneof(moment, fc.constant(NEVER)),
      (one, other, bucket, unsettled) => {
        const [from, to] = one !== undefined && other !== undefined && one > other ? [other, one] : [one, other];
        const parts = settledParts(from, to, bucket, unsettled);
        expect([parts[0]?.from, parts.at(-1)?.to]).toEqual([from, to]);
        for (const [i, part] of parts.entries()) {
          if (i > 0) expect([part.from, part.from]).toEqual([(parts[i - 1]?.to ?? 0) + 1, bucketStartOf(part.from ?? 0, bucket)]);
          if (part.isSettled) expect(part.to ?? -NEVER).toBeLessThan(unsettled);
          if (part.from !== undefined && part.to !== undefined) expect(part.from).toBeLessThanOrEqual(part.to);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
