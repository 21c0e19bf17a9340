import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { MeterProvider, type Histogram } from '@opentelemetry/sdk-metrics';
import { ORDERS_REQUESTS } from '../testing/orders-service.ts';
import { DurationSeries } from './duration-series.ts';
import { histogramData, metricSources, ScrapeReader } from './metric-data.ts';

const NAME = ORDERS_REQUESTS.duration.name;
const BOUNDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The results for the same requests in our histogram and in the SDK's. */
async function both(seconds: readonly number[]): Promise<readonly (Histogram | undefined)[]> {
  const ours = new DurationSeries({}, BOUNDS, 0);
  const sources = metricSources({ name: 'ours' }, () => 0);
  sources.add((now) => [histogramData(ORDERS_REQUESTS.duration, [ours], now)]);
  const reader = new ScrapeReader(100, sources);
  const meter = new MeterProvider({ readers: [reader] }).getMeter('stock');
  const stock = meter.createHistogram(NAME, { advice: { explicitBucketBoundaries: [...BOUNDS] } });
  for (const one of seconds) {
    stock.record(one);
    ours.record(one, undefined, 0);
  }
  const { scopeMetrics } = await reader.read();
  return ['stock', 'ours'].map((name) => {
    const metrics = scopeMetrics.filter(({ scope }) => scope.name === name).flatMap((scope) => scope.metrics);
    return metrics.find(({ descriptor }) => descriptor.name === NAME)?.dataPoints[0]?.value as Histogram | undefined;
  });
}

test('durations are counted like in the histogram of the SDK', async () => {
  // Whole milliseconds, so that both sums are equal.
  const milliseconds = fc.oneof(fc.nat(20_000), fc.constantFrom(...BOUNDS.map((bound) => bound * 1_000)));
  const seconds = fc.array(milliseconds.map((one) => one / 1_000));
  await fc.assert(
    fc.asyncProperty(seconds, async (values) => {
      const [stock, ours] = await both(values);
      expect(ours).toEqual(stock);
    }),
  );
});

test('a bucket keeps its newest exemplar, and a measurement without a sampled span does not replace it', () => {
  const series = new DurationSeries({}, [1, 2], 5_000);
  expect(series.point([9, 0])).toBeUndefined();
  const first = { traceId: 'a', spanId: 'b' };
  const second = { traceId: 'c', spanId: 'd' };
  series.record(0.5, first, 1);
  series.record(0.7, second, 2);
  series.record(0.9, undefined, 0);
  series.record(3, first, 3);
  expect(series.point([9, 0])).toMatchObject({
    startTime: [5, 0],
    endTime: [9, 0],
    value: { count: 4, buckets: { counts: [3, 0, 1] } },
    exemplars: [{ value: 0.7, time: 2, ...second }, undefined, { value: 3, time: 3, ...first }],
  });
});
