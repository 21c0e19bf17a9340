import { expect, test } from '@jest/globals';
import { emptyResource } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createOrdersMetrics } from '../testing/orders-service.ts';
import { withExemplars } from './exemplar-serializers.ts';
import { metricSources, ScrapeReader } from './metric-data.ts';
import { ServiceMetrics } from './instrument.ts';

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
