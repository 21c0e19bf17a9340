import { ValueType, type HrTime } from '@opentelemetry/api';
import { millisToHrTime, type InstrumentationScope } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type HistogramMetricData,
  type MetricProducer,
  type SumMetricData,
} from '@opentelemetry/sdk-metrics';
import type { DurationSeries } from './duration-series.ts';
import { GATEWAY_INSTRUMENTS as I, type Instrument } from './instruments.ts';
import type { RequestSeries, Series } from './request-series.ts';

/** Gives the counts and durations that `series` keeps to a reader, beside what its meter provider tells: an observable counter of the SDK sorts,
 *  hashes and merges the attributes of every point at every reading, which took 40 µs a point. `clock`: milliseconds since the epoch. */
export function seriesProducer(series: RequestSeries, scope: InstrumentationScope, clock: () => number): MetricProducer {
  const collected = (): CollectionResult => {
    const endTime = millisToHrTime(clock());
    const every = [...series.series()];
    const of = (instrument: Instrument, which: 'proxyDuration' | 'providerDuration') =>
      metricOf(
        instrument,
        every.map((one) => one[which]),
        endTime,
      );
    const counted = (instrument: Instrument, which: 'proxy' | 'provider' | 'dropped') =>
      counterOf(
        instrument,
        every.flatMap((one) => pointsOf(one, which, endTime)),
      );
    const all = [
      counted(I.proxyRequests, 'proxy'),
      counted(I.providerRequests, 'provider'),
      counted(I.queueDropped, 'dropped'),
      of(I.providerDuration, 'providerDuration'),
      of(I.proxyDuration, 'proxyDuration'),
    ];
    const metrics = all.filter(({ dataPoints }) => dataPoints.length > 0);
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] }, errors: [] };
  };
  return { collect: async () => collected() };
}

/** What was counted, and zeros where an alert waits for the first event: of what was declared, and of the drops of all series whose traces can
 *  be dropped. */
function pointsOf(
  { statuses, hasTraces }: Series,
  which: 'proxy' | 'provider' | 'dropped',
  endTime: HrTime,
): DataPoint<number>[] {
  const points: DataPoint<number>[] = [];
  for (const counts of statuses.values()) {
    const { attributes, startTime, isDeclared, [which]: value } = counts;
    if (value > 0 || isDeclared || (which === 'dropped' && hasTraces)) points.push({ attributes, startTime, endTime, value });
  }
  return points;
}

function counterOf({ name, unit, description }: Instrument, dataPoints: DataPoint<number>[]): SumMetricData {
  return {
    descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints,
  };
}

function metricOf(
  { name, unit, description }: Instrument,
  durations: readonly DurationSeries[],
  endTime: HrTime,
): HistogramMetricData {
  return {
    descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: durations.map((one) => one.point(endTime)).filter((point) => point !== undefined),
  };
}
