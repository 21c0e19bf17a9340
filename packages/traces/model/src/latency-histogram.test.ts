import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addLatency, bucketOf, percentileOf, type LatencyCounts } from './latency-histogram.ts';

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
