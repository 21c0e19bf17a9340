import { DurationSeries } from '@vitrine/telemetry/metrics/duration-series';
import type { MetricAttributes } from '@vitrine/telemetry/metrics/instrument';
import { counterData, histogramData } from '@vitrine/telemetry/metrics/metric-data';
import { SeriesTable } from '@vitrine/telemetry/metrics/series-table';
import type { ServiceMetrics } from '@vitrine/telemetry/metrics/service-metrics';
import type { SpanIds } from '@vitrine/telemetry/active-span';
import type { CountedOperation } from '../http/plain-route.ts';
import { REQUEST_INSTRUMENTS } from './instruments.ts';

/** Operations, statuses and codes have a fixed vocabulary; this bound is far above their number. */
const CAPACITY = 2_048;

/** Counts requests and their durations. */
export class RequestSeries {
  readonly #counts: SeriesTable<{ attributes: MetricAttributes; startedAt: number; value: number }>;
  readonly #durations = new Map<string, DurationSeries>();
  readonly #startedAt = Date.now();

  constructor(metrics: ServiceMetrics, operations: readonly CountedOperation[]) {
    const startedAt = this.#startedAt;
    const make = (attributes: MetricAttributes) => ({ attributes, startedAt, value: 0 });
    this.#counts = new SeriesTable({ capacity: CAPACITY, collapsible: ['status', 'code'], make });
    for (const { operationId, outcomes } of operations)
      for (const { status, code } of outcomes) this.#seriesOf(operationId, status, code);
    metrics.addSource((now) => [
      counterData(REQUEST_INSTRUMENTS.requests, [...this.#counts.series()], now),
      histogramData(REQUEST_INSTRUMENTS.duration, [...this.#durations.values()], now),
    ]);
  }

  record(operation: string, status: number, code: string, seconds: number, ids: SpanIds | undefined): void {
    this.#seriesOf(operation, status, code).value += 1;
    let duration = this.#durations.get(operation);
    if (duration === undefined) {
      duration = new DurationSeries({ operation }, REQUEST_INSTRUMENTS.duration.buckets, this.#startedAt);
      this.#durations.set(operation, duration);
    }
    duration.record(seconds, ids, Date.now());
  }

  #seriesOf(operation: string, status: number, code: string) {
    const key = [operation, status, code] as const;
    return this.#counts.get(key) ?? this.#counts.add(key, { operation, status, code });
  }
}
