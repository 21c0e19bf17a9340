import { ValueType, type HrTime } from '@opentelemetry/api';
import { millisToHrTime, type InstrumentationScope } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type HistogramMetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { DurationSeries } from './duration-series.ts';
import { GATEWAY_INSTRUMENTS as I, type Instrument } from './instruments.ts';
import type { RequestSeries } from './request-series.ts';

/** Gives the durations that `series` keeps to a reader, beside what its meter provider tells. `clock`: milliseconds since the epoch. */
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
    const all = [of(I.providerDuration, 'providerDuration'), of(I.proxyDuration, 'proxyDuration')];
    const metrics = all.filter(({ dataPoints }) => dataPoints.length > 0);
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] }, errors: [] };
  };
  return { collect: async () => collected() };
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
