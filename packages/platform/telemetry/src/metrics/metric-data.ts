import { ValueType } from '@opentelemetry/api';
import { millisToHrTime, type InstrumentationScope } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  type MetricData,
  type MetricProducer,
  type SumMetricData,
  MetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { DurationSeries } from './duration-series.ts';
import type { Instrument, MetricAttributes } from './instrument.ts';

/** The value of one series of a counter. */
export interface CounterPoint {
  readonly attributes: MetricAttributes;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly value: number;
}

/** The data of a counter outside the SDK. `now`: milliseconds since the epoch. */
export function counterData(instrument: Instrument, points: readonly CounterPoint[], now: number): SumMetricData {
  const endTime = millisToHrTime(now);
  return {
    descriptor: descriptorOf(instrument),
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints: points.map(({ attributes, startedAt, value }) => ({
      attributes,
      startTime: millisToHrTime(startedAt),
      endTime,
      value,
    })),
  };
}

/** The data of a histogram outside the SDK. `now`: milliseconds since the epoch. */
export function histogramData(instrument: Instrument, series: readonly DurationSeries[], now: number): HistogramMetricData {
  const endTime = millisToHrTime(now);
  return {
    descriptor: descriptorOf(instrument),
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: series.map((one) => one.point(endTime)).filter((point) => point !== undefined),
  };
}

function descriptorOf({ name, unit, description }: Instrument): MetricData['descriptor'] {
  return { name, unit, description, valueType: ValueType.DOUBLE };
}

/** Passes metrics outside the SDK to its readers. An observable counter of the SDK sorts, hashes and merges the attributes of
 *  every point at every collection, which takes 40 µs a point. */
export interface MetricSources extends MetricProducer {
  readonly add: (read: (now: number) => readonly MetricData[]) => void;
}

/** `clock`: milliseconds since the epoch. */
export function metricSources(scope: InstrumentationScope, clock: () => number): MetricSources {
  const sources: ((now: number) => readonly MetricData[])[] = [];
  return {
    add: (read) => void sources.push(read),
    collect: async () => {
      const now = clock();
      const metrics = sources.flatMap((read) => read(now)).filter(({ dataPoints }) => dataPoints.length > 0);
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] }, errors: [] };
    },
  };
}

/** Reads the meter provider for a scrape. */
export class ScrapeReader extends MetricReader {
  /** `producer`: metrics beside those of the meter provider. */
  constructor(cardinalityLimit: number, producer: MetricProducer) {
    super({
      metricProducers: [producer],
      aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE,
      cardinalitySelector: () => cardinalityLimit,
    });
  }

  /** What the instruments hold now; callbacks that fail are left out. */
  async read(): Promise<ResourceMetrics> {
    const { resourceMetrics } = await this.collect();
    return resourceMetrics;
  }

  protected override async onForceFlush(): Promise<void> {}

  protected override async onShutdown(): Promise<void> {}
}
