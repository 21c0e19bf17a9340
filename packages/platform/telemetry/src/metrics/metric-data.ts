import { ValueType } from '@opentelemetry/api';
import { millisToHrTime, type InstrumentationScope } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type HistogramMetricData,
  type MetricData,
  type MetricProducer,
  type SumMetricData,
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
export class MetricSources implements MetricProducer {
  readonly #scope: InstrumentationScope;
  readonly #clock: () => number;
  readonly #sources: ((now: number) => readonly MetricData[])[] = [];

  /** `clock`: milliseconds since the epoch. */
  constructor(scope: InstrumentationScope, clock: () => number) {
    this.#scope = scope;
    this.#clock = clock;
  }

  add(read: (now: number) => readonly MetricData[]): void {
    this.#sources.push(read);
  }

  async collect(): Promise<CollectionResult> {
    const now = this.#clock();
    const metrics = this.#sources.flatMap((read) => read(now)).filter(({ dataPoints }) => dataPoints.length > 0);
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope: this.#scope, metrics }] }, errors: [] };
  }
}
