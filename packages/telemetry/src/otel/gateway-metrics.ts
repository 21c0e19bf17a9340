import type { BatchObservableResult, Histogram, Meter } from '@opentelemetry/api';
import type { SpanIds } from './duration-series.ts';
import { createGenaiMetrics, type GenaiMetrics } from './genai-metrics.ts';
import {
  CONNECTION_INSTRUMENTS as C,
  GATEWAY_INSTRUMENTS as I,
  SELF_INSTRUMENTS as SELF,
  type Instrument,
} from './instruments.ts';
import type { SpanCounts } from './span-bounds.ts';
import type { RequestLabels, RequestSeries } from './request-series.ts';

/** A request that has ended. */
export interface EndedRequest extends RequestLabels {
  /** The status that went to the client; 0 when nothing did. */
  readonly status: number;
  readonly durationMs: number;
  /** From sending the request to the provider to the end of its answer; undefined when it was never sent. */
  readonly providerMs: number | undefined;
}

/** What the trace queue counts itself; read when metrics are collected. */
export interface QueueReading {
  readonly depth: number;
  readonly capacity: number;
  readonly enqueued: number;
  readonly written: number;
}

/** The client connections of a server; read when metrics are collected. */
export interface ConnectionReading {
  readonly open: number;
  readonly limit: number;
  /** Those that were refused or ended, by reason, since the server was made. */
  readonly closed: Readonly<Record<string, number>>;
}

/** What the gateway tells its meter. Spec: gateway, Metrics. */
export interface GatewayMetrics {
  /** `ids`: those of the request's sampled span, for exemplars. */
  requestEnded(request: EndedRequest, ids: SpanIds | undefined): void;
  /** The request's trace was dropped because the queue was full. */
  traceDropped(labels: RequestLabels, status: number): void;
  writeFailed(failure: { operation: string; error_class: string; store: string; count: number }): void;
  /** A batch was written, or tried. */
  flushed(batchSize: number, durationMs: number): void;
  /** From now on the counters of a provider's requests exist, at 0. `route`: such as `/openai/*`. */
  declareProvider(provider: string, route: string): void;
  /** From now on `read` is asked for the queue's figures. */
  watchQueue(read: () => QueueReading): void;
  /** From now on `read` is asked for the figures of the client connections. */
  observeConnections(read: () => ConnectionReading): void;
  /** Undefined unless `observability.otel.genai` is on. */
  readonly genai: GenaiMetrics | undefined;
}

const NO_QUEUE: QueueReading = { depth: 0, capacity: 0, enqueued: 0, written: 0 };

export interface GatewayMetricsOptions {
  /** Where requests are counted and timed; `seriesProducer` gives it to the readers. */
  readonly series: RequestSeries;
  readonly spans: Readonly<SpanCounts>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly genai: boolean;
}

/** Makes the instruments on `meter`. What is counted for every request is kept here: adding to an instrument by its attributes costs
 *  0.7 µs, adding to a number nothing. */
export function createGatewayMetrics(meter: Meter, { series, spans, clock, genai }: GatewayMetricsOptions): GatewayMetrics {
  let readQueue: (() => QueueReading) | undefined;
  const flushDuration = histogram(meter, I.flushDuration);
  const flushBatchSize = histogram(meter, I.flushBatchSize);
  const writeFailed = meter.createCounter(I.writeFailed.name, I.writeFailed);
  observeSelf(meter, series, spans);
  observeQueue(meter, () => readQueue?.() ?? NO_QUEUE);

  const requestEnded = (request: EndedRequest, ids: SpanIds | undefined): void => {
    const { status, durationMs, providerMs } = request;
    const own = series.of(request, status >= 200 && status < 400);
    const counts = series.counts(own, status);
    const now = ids === undefined ? 0 : clock();
    counts.proxy += 1;
    own.proxyDuration.record(durationMs / 1_000, ids, now);
    if (providerMs === undefined) return;
    counts.provider += 1;
    own.providerDuration.record(providerMs / 1_000, ids, now);
  };

  return {
    requestEnded,
    traceDropped: (labels, status) => void (series.counts(series.of(labels, false), status).dropped += 1),
    writeFailed: ({ count, ...attributes }) => writeFailed.add(count, attributes),
    flushed: (batchSize, durationMs) => {
      flushDuration.record(durationMs / 1_000);
      flushBatchSize.record(batchSize);
    },
    declareProvider: (provider, route) => series.declare(provider, route),
    watchQueue: (read) => void (readQueue = read),
    observeConnections: (read) => observeConnections(meter, read),
    genai: genai ? createGenaiMetrics(meter, series.models) : undefined,
  };
}

function histogram(meter: Meter, { name, unit, description, buckets }: Instrument & { buckets: readonly number[] }): Histogram {
  return meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...buckets] } });
}

function observeSelf(meter: Meter, series: RequestSeries, spans: Readonly<SpanCounts>): void {
  const counter = ({ name, unit, description }: Instrument) => meter.createObservableCounter(name, { unit, description });
  const own = counter(SELF.spans);
  const collapsed = counter(SELF.collapsed);
  const observe = (result: BatchObservableResult) => {
    for (const [outcome, count] of Object.entries(spans)) result.observe(own, count, { result: outcome });
    result.observe(collapsed, series.models.collapsed, { label: 'model' });
    result.observe(collapsed, series.collapsed, { label: 'set' });
  };
  meter.addBatchObservableCallback(observe, [own, collapsed]);
}

function observeConnections(meter: Meter, read: () => ConnectionReading): void {
  const open = meter.createObservableGauge(C.connections.name, C.connections);
  const limit = meter.createObservableGauge(C.connectionLimit.name, C.connectionLimit);
  const closed = meter.createObservableCounter(C.connectionsClosed.name, C.connectionsClosed);
  const observe = (result: BatchObservableResult) => {
    const reading = read();
    result.observe(open, reading.open);
    result.observe(limit, reading.limit);
    for (const [reason, count] of Object.entries(reading.closed)) result.observe(closed, count, { reason });
  };
  meter.addBatchObservableCallback(observe, [open, limit, closed]);
}

function observeQueue(meter: Meter, read: () => QueueReading): void {
  const depth = meter.createObservableGauge(I.queueDepth.name, I.queueDepth);
  const capacity = meter.createObservableGauge(I.queueCapacity.name, I.queueCapacity);
  const enqueued = meter.createObservableCounter(I.enqueued.name, I.enqueued);
  const written = meter.createObservableCounter(I.written.name, I.written);
  const observe = (result: BatchObservableResult) => {
    const reading = read();
    result.observe(depth, reading.depth);
    result.observe(capacity, reading.capacity);
    result.observe(enqueued, reading.enqueued);
    result.observe(written, reading.written);
  };
  meter.addBatchObservableCallback(observe, [depth, capacity, enqueued, written]);
}
