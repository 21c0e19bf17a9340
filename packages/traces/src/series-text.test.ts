import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costItemsOf, seriesOf, usageItemsOf } from './measures-to-response.ts';
import * as shapes from './analytics-shapes.ts';
import { joinSeries, seriesSegmentOf } from './series-text.ts';
import { BUCKETS, type Measure } from './trace-analytics.ts';

const count = fc.oneof(fc.nat(100), fc.maxSafeNat());
const measure: fc.Arbitrary<Measure> = fc
  .record({
    bucketStart: fc.integer({ min: 0, max: 4e12 }),
    group: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('"', '\\', '\n', '],[', '😀', '\ud800', 'ü') }),
    ),
    requests: fc.integer({ min: 1, max: 1e12 }),
    inputTokens: count,
    outputTokens: count,
    totalTokens: count,
    costUsd: fc.double({ min: 0, max: 1e9, noNaN: true }),
  })
  .map((of) => of as Measure);

test('pieces together are the JSON of the whole, byte for byte, and of the shape that is documented', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(measure, { maxLength: 5 }), { maxLength: 4 }),
      fc.constantFrom('usage' as const, 'cost' as const),
      fc.constantFrom(undefined, 'model' as const, 'provider' as const),
      fc.constantFrom(...BUCKETS),
      (pieces, endpoint, groupBy, bucket) => {
        const asked = { endpoint, groupBy, bucket };
        const joined = joinSeries(
          asked,
          pieces.map((one) => seriesSegmentOf(asked, one)),
        );
        const itemsOf = endpoint === 'usage' ? usageItemsOf : costItemsOf;
        const whole = JSON.stringify(seriesOf(groupBy, bucket, itemsOf(pieces.flat(), groupBy !== undefined)));
        expect(Buffer.from(joined).toString()).toBe(whole);
        expect(joined.byteLength).toBe(joined.buffer.byteLength);
        (endpoint === 'usage' ? shapes.usageSeries : shapes.costSeries).parse(JSON.parse(whole));
      },
    ),
  );
});
