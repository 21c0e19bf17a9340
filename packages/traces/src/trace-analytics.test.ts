import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as shapes from './analytics-shapes.ts';
import { costItemsOf, usageItemsOf } from './measures-to-response.ts';
import { BUCKETS } from './time-buckets.ts';
import { TraceAnalytics } from './trace-analytics.ts';
import { SERIES_GROUPS, type Measure } from './trace-measures.ts';
import { PICO_PER_THOUSAND } from './usd.ts';

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
    cost: fc.record({ thousands: fc.nat(20), pico: fc.integer({ min: 0, max: PICO_PER_THOUSAND - 1 }) }),
  })
  .map((of) => of as Measure);

test('a series is the JSON of the whole, byte for byte, and of the shape that is documented', async () => {
  await fc.assert(
    fc.asyncProperty(
      // Beyond a thousand items a series is made in several turns.
      fc.tuple(fc.array(measure, { maxLength: 5 }), fc.constantFrom(0, 1, 200, 201, 500)),
      fc.constantFrom('usage' as const, 'cost' as const),
      fc.constantFrom(undefined, ...SERIES_GROUPS),
      fc.constantFrom(...BUCKETS),
      async ([some, times], endpoint, group_by, bucket) => {
        const measures = Array.from({ length: times }, () => some).flat();
        const analytics = new TraceAnalytics({ measure: async () => measures });
        const response = await analytics[endpoint]({ group_by, bucket });
        const items = (endpoint === 'usage' ? usageItemsOf : costItemsOf)(measures, group_by !== undefined);
        const whole = JSON.stringify({ group_by, bucket, items });
        expect(Buffer.from(response as Uint8Array).toString()).toBe(whole);
        if (times < 2) (endpoint === 'usage' ? shapes.usageSeries : shapes.costSeries).parse(JSON.parse(whole));
      },
    ),
  );
});

test('a large series lets other work in while it is made', async () => {
  const one = { bucketStart: 0, group: 'm', requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 } as Measure;
  const analytics = new TraceAnalytics({ measure: async () => Array.from({ length: 5_000 }, () => one) });
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  await analytics.usage({ bucket: 'hour' });
  clearImmediate(immediate);
  expect(turns).toBeGreaterThanOrEqual(4);
});
