import { describe, expect, test } from '@jest/globals';
import { ValueType } from '@opentelemetry/api';
import { emptyResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  MeterProvider,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import fc from 'fast-check';
import { createOrdersMetrics, ORDERS_REQUESTS } from '../testing/orders-service.ts';
import { BoundedNames } from './bounded-names.ts';
import { DurationSeries } from './duration-series.ts';
import { withExemplars } from './exemplar-serializers.ts';
import { ServiceMetrics } from './instrument.ts';
import { histogramData, metricSources, ScrapeReader } from './metric-data.ts';
import { scrapeFormat, scrapeName, scrapeText } from './scrape-text.ts';

describe('BoundedNames', () => {
  test('unproven names fill at most a quarter, proven names the rest; all others are counted as other', () => {
    const names = new BoundedNames(8);
    const label = (name: string, isProven: boolean) => names.labelOf(name, isProven);
    expect(['a', 'b', 'c'].map((name) => label(name, false))).toEqual(['a', 'b', 'other']);
    expect(['c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => label(name, true))).toEqual(['c', 'd', 'e', 'f', 'g', 'h', 'other']);
    expect(label('c', false)).toBe('c');
    expect(names.collapsed).toBe(2);
  });

  test('a label is trimmed, scrubbed and at most 128 characters long', () => {
    const names = new BoundedNames(8);
    expect(names.labelOf(` ${'m'.repeat(500)} `, true)).toBe('m'.repeat(128));
    expect(names.labelOf('sk-proj-canary0123456789', true)).toBe('[CREDENTIAL_REDACTED]');
    expect([names.labelOf(undefined, true), names.labelOf('', true), names.labelOf('  ', true)]).toEqual([
      'unknown',
      'unknown',
      'unknown',
    ]);
  });
});

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

const DAY_MS = 86_400_000;

interface Point {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly exemplars?: readonly { readonly spanId: string }[];
}

/** The metrics of a service that a collector gets; the test sets the wall clock. */
function setUp() {
  const time = { now: Date.now() };
  const clock = () => time.now;
  const sources = metricSources({ name: 'ours' }, clock);
  const reader = new ScrapeReader(1_000, sources);
  const meter = new MeterProvider({ readers: [reader], resource: emptyResource() }).getMeter('ours');
  const metrics = createOrdersMetrics(new ServiceMetrics(meter, (read) => sources.add(read)), clock);
  const serializer = withExemplars('json');
  const push = async () => {
    const bytes = serializer.serializeRequest(await reader.read());
    const request = JSON.parse(new TextDecoder().decode(bytes)) as {
      resourceMetrics: { scopeMetrics: { metrics: Record<string, { dataPoints: Point[] } | string>[] }[] }[];
    };
    const all = request.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    return all.flatMap((metric) => Object.values(metric).flatMap((of) => (typeof of === 'string' ? [] : of.dataPoints)));
  };
  const record = (spanId: string) => metrics.requestEnded('berlin', 0.001, { traceId: '0'.repeat(32), spanId });
  const spanIds = (points: readonly Point[]) => points.flatMap(({ exemplars = [] }) => exemplars.map(({ spanId }) => spanId));
  return { time, push, record, spanIds };
}

test('each exemplar is pushed once, even when the wall clock is set back in between', async () => {
  const { time, push, record, spanIds } = setUp();
  record('1'.repeat(16));
  expect(spanIds(await push())).toEqual(['1'.repeat(16)]);
  expect(spanIds(await push())).toEqual([]);
  time.now -= DAY_MS;
  record('2'.repeat(16));
  expect(spanIds(await push())).toEqual(['2'.repeat(16)]);
  // In the same millisecond.
  record('3'.repeat(16));
  expect(spanIds(await push())).toEqual(['3'.repeat(16)]);
});

test('no point begins after its end when the wall clock was set back', async () => {
  const { time, push, record } = setUp();
  record('1'.repeat(16));
  time.now -= DAY_MS;
  const points = await push();
  const at = ({ startTimeUnixNano: start, timeUnixNano: end }: Point) => [BigInt(start), BigInt(end)] as const;
  expect(points.map(at).filter(([start, end]) => start > end)).toEqual([]);
  const ends = points.map((point) => Number(at(point)[1] / 1_000_000n));
  expect(ends.filter((end) => end === time.now)).not.toEqual([]);
});

test.each([
  ['svc.trace.queue_dropped_total', '{trace}', 'counter', 'svc_trace_queue_dropped_total'],
  ['svc.proxy.request_duration_seconds', 's', 'histogram', 'svc_proxy_request_duration_seconds'],
  ['svc.trace.queue_depth', '{trace}', 'gauge', 'svc_trace_queue_depth'],
  ['nodejs.eventloop.delay.p99', 's', 'gauge', 'nodejs_eventloop_delay_p99_seconds'],
  ['nodejs.eventloop.time', 's', 'counter', 'nodejs_eventloop_time_seconds_total'],
  ['nodejs.eventloop.utilization', '1', 'gauge', 'nodejs_eventloop_utilization_ratio'],
  ['v8js.memory.heap.used', 'By', 'gauge', 'v8js_memory_heap_used_bytes'],
  ['gen_ai.client.token.usage', '{token}', 'histogram', 'gen_ai_client_token_usage'],
] as const)('%s (%s, a %s) is scraped as %s', (name, unit, kind, expected) => {
  expect(scrapeName(name, unit, kind)).toBe(expected);
});

test.each([
  [undefined, 'classic'],
  ['', 'classic'],
  ['*/*', 'classic'],
  ['text/plain;version=0.0.4', 'classic'],
  ['application/openmetrics-text', 'openmetrics'],
  ['Application/OpenMetrics-Text; version=1.0.0;q=0.5, text/plain;q=0.3, */*;q=0.1', 'openmetrics'],
  ['application/openmetrics-text;q=0', 'classic'],
  ['application/openmetrics-text;q=0.2,text/plain', 'classic'],
  ['application/openmetrics-text;q=nonsense', 'classic'],
])('Accept %j gets %s', (accept, expected) => {
  expect(scrapeFormat(accept)).toBe(expected);
});

describe('awkward values', () => {
  const awkward = 'quote " backslash \\ line\nfeed é';
  const metrics: ResourceMetrics = {
    resource: resourceFromAttributes({ 'service.name': awkward }),
    scopeMetrics: [
      {
        scope: { name: 'scope' },
        metrics: [
          {
            descriptor: { name: '9.odd name', description: awkward, unit: '', valueType: ValueType.DOUBLE },
            aggregationTemporality: AggregationTemporality.CUMULATIVE,
            dataPointType: DataPointType.GAUGE,
            dataPoints: [Number.NaN, Number.POSITIVE_INFINITY, -1e-7, 1e21].map((value, at) => ({
              value,
              startTime: [0, 0],
              endTime: [0, 0],
              attributes: { 'label.name': awkward, at },
            })),
          },
        ],
      },
    ],
  };

  test.each(['openmetrics', 'classic'] as const)('are escaped so that %s parsers read them back', (format) => {
    const families = parseScrape(scrapeText(metrics, format).body, format);
    const { name, samples } = families[1] ?? { name: '', samples: [] };
    expect(name).toBe('_9_odd_name');
    expect(samples.map(({ value }) => value)).toEqual([Number.NaN, Number.POSITIVE_INFINITY, -1e-7, 1e21]);
    expect(samples[0]?.labels).toEqual({ label_name: awkward, at: '0' });
  });
});
