import { expect, test } from '@jest/globals';
import { anyCharacter } from '@vitrine/testkit/testing/any-character';
import fc from 'fast-check';
import * as shapes from './analytics-shapes.ts';
import { BUCKETS } from './time-buckets.ts';
import { TraceAnalytics } from './trace-analytics.ts';
import { SERIES_GROUPS, type Measure } from './trace-measures.ts';
import { PICO_PER_THOUSAND, roundUsd, usdJson, usdOf } from './usd.ts';

const count = fc.oneof(fc.nat(100), fc.nat(), fc.maxSafeNat());
const pico = fc.oneof(
  fc.nat(2_000_000),
  fc.integer({ min: 0, max: PICO_PER_THOUSAND - 1 }),
  fc.nat(999_999).map((millionths) => millionths * 1_000_000),
);
const measure: fc.Arbitrary<Measure> = fc
  .record({
    bucketStart: fc.integer({ min: 0, max: 4e12 }),
    group: fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: fc.constantFrom('"', '\\', '\n', '],[', '😀', '\ud800', 'ü') }),
    ),
    requests: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1e12 })),
    inputTokens: count,
    outputTokens: count,
    totalTokens: count,
    cost: fc.record({ thousands: fc.oneof(fc.constant(0), fc.nat(20)), pico }),
    upper: fc.record({ thousands: fc.oneof(fc.constant(0), fc.nat(20)), pico }),
    unpriced: count,
    estimated: count,
    missingUsage: count,
    latencyMs: count,
    latencyMsMin: count,
    latencyMsMax: count,
    p50Ms: count,
    p95Ms: count,
    p99Ms: count,
  })
  .map((of) => ({ ...of, errors4xx: Math.floor(of.requests / 3), errors5xx: Math.floor(of.requests / 4) }) as Measure);

const unknownOf = ({ unpriced, estimated, missingUsage }: Measure) => ({
  unpriced_requests: unpriced,
  estimated_requests: estimated,
  missing_usage_requests: missingUsage,
});

/** The fields of an item, in the order of the documentation. */
const FIELDS = {
  usage: (one: Measure) => ({
    input_tokens: one.inputTokens,
    output_tokens: one.outputTokens,
    total_tokens: one.totalTokens,
    ...unknownOf(one),
  }),
  cost: (one: Measure) => ({
    total_cost_usd: usdJson(one.cost),
    total_cost_upper_usd: usdJson(one.upper),
    request_count: one.requests,
    avg_cost_usd: roundUsd(usdOf(one.cost.thousands, one.cost.pico) / one.requests),
    avg_cost_upper_usd: roundUsd(usdOf(one.upper.thousands, one.upper.pico) / one.requests),
    ...unknownOf(one),
  }),
  latency: (one: Measure) => ({
    request_count: one.requests,
    avg_ms: one.latencyMs / one.requests,
    min_ms: one.latencyMsMin,
    max_ms: one.latencyMsMax,
    p50_ms: one.p50Ms,
    p95_ms: one.p95Ms,
    p99_ms: one.p99Ms,
    ...unknownOf(one),
  }),
  errors: (one: Measure) => ({
    total_requests: one.requests,
    error_count_4xx: one.errors4xx,
    error_count_5xx: one.errors5xx,
    error_rate: (one.errors4xx + one.errors5xx) / one.requests,
    ...unknownOf(one),
  }),
};
const SHAPES = { usage: shapes.usageSeries, cost: shapes.costSeries, latency: shapes.latencyRows, errors: shapes.errorRows };

test('a series equals the JSON of the whole, byte for byte, and matches the documented schema', async () => {
  await fc.assert(
    fc.asyncProperty(
      // Beyond 500 items a series is written in several turns.
      fc.tuple(fc.array(measure, { maxLength: 5 }), fc.constantFrom(0, 1, 200, 201, 500)),
      fc.constantFrom('usage' as const, 'cost' as const, 'latency' as const, 'errors' as const),
      fc.constantFrom(undefined, ...SERIES_GROUPS),
      fc.constantFrom(...BUCKETS),
      async ([some, times], endpoint, group_by, bucket) => {
        const measures = Array.from({ length: times }, () => some).flat();
        const analytics = new TraceAnalytics({ measure: async () => measures });
        const response = await analytics[endpoint]({ group_by, bucket });
        const items = measures.map((one) => ({
          bucket_start: new Date(one.bucketStart),
          group: group_by && one.group,
          ...FIELDS[endpoint](one),
        }));
        const whole = JSON.stringify({ group_by, bucket, items });
        expect(Buffer.from(response as Uint8Array).toString()).toBe(whole);
        if (times < 2) SHAPES[endpoint].parse(JSON.parse(whole));
      },
    ),
    { numRuns: 50 },
  );
});

test('other work runs while a large series is written', async () => {
  const one = {
    bucketStart: 0,
    group: 'm',
    requests: 1,
    inputTokens: 1,
    outputTokens: 1,
    totalTokens: 2,
    cost: { thousands: 0, pico: 0 },
  } as Measure;
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
