import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { packLatencies, PackedLatencies } from './packed-latencies.ts';

const bucket = fc.oneof(fc.nat(300), fc.nat(2_000));
const count = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const histogram = fc
  .uniqueArray(fc.tuple(bucket, count), { selector: ([at]) => at, maxLength: 20 })
  .map((pairs) => pairs.toSorted(([left], [right]) => left - right));

test('histograms are read as they were packed, one after the other', () => {
  fc.assert(
    fc.property(fc.array(histogram, { maxLength: 5 }), (histograms) => {
      const bytes: number[] = [];
      for (const pairs of histograms) packLatencies(bytes, pairs);
      const packed = new PackedLatencies(Buffer.from(bytes));
      for (const pairs of histograms) {
        const counts: number[] = [];
        packed.addNext(counts);
        expect([...counts.entries()].filter(([, traces]) => traces > 0)).toEqual(pairs);
      }
    }),
  );
});

test('a pair of a small count takes two bytes', () => {
  const bytes: number[] = [];
  packLatencies(bytes, [
    [120, 1],
    [240, 127],
  ]);
  expect(bytes).toEqual([2, 120, 1, 120, 127]);
});
