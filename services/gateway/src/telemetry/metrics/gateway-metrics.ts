import type { ClientConnections } from '@vitrine/http-api/connections/client-connections';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import type { MetricAttributes, Recorders, ServiceMetrics } from '@vitrine/telemetry/metrics/instrument';
import type { SpanIds } from '@vitrine/telemetry/active-span';
import { UNKNOWN_KINDS, type UnknownUse } from '@vitrine/trace-derivation/trace-sink';
import { WRITE_INSTRUMENTS, writeFailureSeries, WRITTEN_INSTRUMENTS } from '@vitrine/traces/write-telemetry';
import type { WriteFailure } from '@vitrine/traces/write-result';
import type { QueueCounters } from '../../recording/capture/queue-counters.ts';
import type { TracePublisher } from '../../recording/publisher/open-publisher.ts';
import { GenaiMetrics } from './genai-metrics.ts';
import {
  BODY_INSTRUMENTS,
  CONNECTION_INSTRUMENTS,
  LABEL_INSTRUMENTS,
  PLAN_INSTRUMENTS,
  PUBLISH_DROP_CAUSES,
  PUBLISH_INSTRUMENTS,
  PUBLISHER_INSTRUMENTS,
  QUEUE_INSTRUMENTS,
  UNKNOWN_INSTRUMENTS,
  UPSTREAM_INSTRUMENTS,
} from './instruments.ts';
import { RequestSeries, requestSeriesData, type RequestLabels } from './request-series.ts';

/** A request that has ended. */
interface EndedRequest extends RequestLabels {
  /** The status that went to the client; 0 when nothing did. */
  readonly status: number;
  readonly durationMs: number;
  /** From sending the request to the provider to the end of its response; undefined when it was never sent. */
  readonly providerMs: number | undefined;
}

/** The trace queue. */
interface QueueReading {
  readonly depth: number;
  readonly capacity: number;
  readonly counters: Pick<QueueCounters, 'enqueueAccepted' | 'written'>;
}

/** The gateway's metrics. Counts of every request are kept in `RequestSeries`, because adding to an SDK instrument by its attributes takes 0.7 µs,
 *  and adding to a number almost nothing. Spec: G14.17, G14.27 to G14.34. */
export class GatewayMetrics {
  /** Undefined unless `observability.otel.genai` is on. */
  readonly genai: GenaiMetrics | undefined;
  readonly #metrics: ServiceMetrics;
  readonly #series = new RequestSeries(Date.now);
  readonly #writes: Recorders<typeof WRITE_INSTRUMENTS>;
  readonly #bodies: Recorders<typeof BODY_INSTRUMENTS>;
  readonly #unknown: Recorders<typeof UNKNOWN_INSTRUMENTS>;
  #publishing: Recorders<typeof PUBLISH_INSTRUMENTS> | undefined;

  constructor(metrics: ServiceMetrics, genai: boolean) {
    const series = this.#series;
    this.#metrics = metrics;
    this.#writes = metrics.declare(WRITE_INSTRUMENTS);
    this.#bodies = metrics.declare(BODY_INSTRUMENTS);
    this.#unknown = metrics.declare(UNKNOWN_INSTRUMENTS);
    this.genai = genai ? new GenaiMetrics(metrics, series.models) : undefined;
    metrics.addSource((now) => requestSeriesData(series, now));
    metrics.observe(LABEL_INSTRUMENTS, () => ({
      collapsed: [
        [{ label: 'model' }, series.models.collapsed],
        [{ label: 'set' }, series.collapsed],
      ],
    }));
  }

  /** `ids`: those of the request's sampled span, for exemplars. */
  requestEnded(request: EndedRequest, ids: SpanIds | undefined): void {
    const { status, durationMs, providerMs } = request;
    const own = this.#series.of(request, status >= 200 && status < 400);
    const counts = this.#series.counts(own, status);
    const now = ids === undefined ? 0 : Date.now();
    counts.proxy += 1;
    own.proxyDuration.record(durationMs / 1_000, ids, now);
    if (providerMs === undefined) return;
    counts.provider += 1;
    own.providerDuration.record(providerMs / 1_000, ids, now);
  }

  /** Counts a trace dropped because the queue was full. */
  traceDropped(labels: RequestLabels, status: number): void {
    this.#series.counts(this.#series.of(labels, false), status).dropped += 1;
  }

  /** Creates the counters of a store's failed writes, at 0. */
  declareStore(store: string): void {
    for (const series of writeFailureSeries(store)) this.#writes.writeFailed.add(0, series);
  }

  /** `attributes`: `operation`, `error_class` and `store`. */
  writeFailed(count: number, attributes: MetricAttributes): void {
    this.#writes.writeFailed.add(count, attributes);
  }

  /** Counts traces whose exchanges took too long to process. */
  bodiesOmitted(count: number): void {
    this.#bodies.omitted.add(count);
  }

  /** Counts traces whose cost or usage is not known. */
  unknownUsed({ provider, kind, count }: UnknownUse): void {
    this.#unknown.unknown.add(count, { provider, kind });
  }

  /** Records an attempt to write a batch. */
  flushed(batchSize: number, durationMs: number): void {
    this.#writes.flushDuration.record(durationMs / 1_000);
    this.#writes.flushBatchSize.record(batchSize);
  }

  /** Creates the counters of a provider's requests, at 0. `route`: such as `/openai/*`. */
  declareProvider(provider: string, route: string): void {
    this.#series.declare(provider, route);
    for (const kind of UNKNOWN_KINDS) this.#unknown.unknown.add(0, { provider, kind });
  }

  /** Records an attempt to publish a batch. */
  published(durationMs: number, failures: readonly WriteFailure[]): void {
    this.#publishing ??= this.#metrics.declare(PUBLISH_INSTRUMENTS);
    this.#publishing.duration.record(durationMs / 1_000);
    for (const { error, count } of failures) {
      const cause = PUBLISH_DROP_CAUSES.find((known) => known === error.code) ?? 'unknown';
      this.#publishing.dropped.add(count, { cause });
    }
  }

  // Observed values are read whenever metrics are collected.

  /** The queue and its target: `publisher`, or the store. */
  observeQueue(queue: QueueReading, publisher: Pick<TracePublisher, 'spoolMaxBytes' | 'figures'> | undefined): void {
    this.#metrics.observe(QUEUE_INSTRUMENTS, () => {
      const { depth, capacity, counters } = queue;
      return { depth, capacity, enqueued: counters.enqueueAccepted };
    });
    if (publisher === undefined) return this.#metrics.observe(WRITTEN_INSTRUMENTS, () => ({ written: queue.counters.written }));
    this.#publishing ??= this.#metrics.declare(PUBLISH_INSTRUMENTS);
    this.#metrics.observe(PUBLISHER_INSTRUMENTS, () => {
      const { spoolMaxBytes, figures } = publisher;
      return {
        published: queue.counters.written,
        connected: Number(figures.isConnected),
        withoutBodies: figures.withoutBodies,
        spoolRecords: figures.spooledRecords,
        spoolBytes: figures.spooledBytes,
        spoolLimit: spoolMaxBytes,
        drained: figures.drainedRecords,
        lost: [
          [{ cause: 'record_too_large' }, figures.drainedTooLarge],
          [{ cause: 'damaged' }, figures.damagedRecords],
        ],
      };
    });
  }

  /** The connection pools, by name. */
  observePools(read: () => Readonly<Record<string, PoolFigures>>): void {
    this.#metrics.observe(POOL_INSTRUMENTS, () => poolReadings(read()));
  }

  /** The generation of the plans that apply. */
  observePlans(generation: () => number): void {
    this.#metrics.observe(PLAN_INSTRUMENTS, () => ({ generation: generation() }));
  }

  /** The connections to each provider. */
  observeUpstreams(upstreams: readonly { readonly provider: string; readonly pool: { readonly retries: number } }[]): void {
    this.#metrics.observe(UPSTREAM_INSTRUMENTS, () => ({
      retries: upstreams.map(({ provider, pool }) => [{ provider }, pool.retries] as const),
    }));
  }

  /** The client connections of a server. */
  observeConnections(connections: Pick<ClientConnections, 'size' | 'closed'>, limit: number): void {
    this.#metrics.observe(CONNECTION_INSTRUMENTS, () => {
      const closed = Object.entries(connections.closed).map(([reason, count]) => [{ reason }, count] as const);
      return { open: connections.size, limit, closed };
    });
  }
}
