import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import type { Recorders, ServiceMetrics } from '@vitrine/telemetry/metrics/service-metrics';
import type { SpanIds } from '@vitrine/telemetry/metrics/duration-series';
import { WRITE_INSTRUMENTS, WRITTEN_INSTRUMENTS } from '@vitrine/traces/write-telemetry';
import type { WriteFailure } from '@vitrine/traces/write-result';
import type { PublisherFigures } from '../../recording/publisher/publisher-options.ts';
import { GenaiMetrics } from './genai-metrics.ts';
import {
  BODY_INSTRUMENTS,
  CONNECTION_INSTRUMENTS,
  LABEL_INSTRUMENTS,
  PLAN_INSTRUMENTS,
  QUEUE_INSTRUMENTS,
} from './instruments.ts';
import { PUBLISH_DROP_CAUSES, PUBLISH_INSTRUMENTS, PUBLISHER_INSTRUMENTS } from './publish-instruments.ts';
import { requestSeriesData } from './request-series-data.ts';
import { RequestSeries, type RequestLabels } from './request-series.ts';

/** A request that has ended. */
interface EndedRequest extends RequestLabels {
  /** The status that went to the client; 0 when nothing did. */
  readonly status: number;
  readonly durationMs: number;
  /** From sending the request to the provider to the end of its response; undefined when it was never sent. */
  readonly providerMs: number | undefined;
}

/** The trace queue; read when metrics are collected. */
interface QueueReading {
  readonly depth: number;
  readonly capacity: number;
  readonly counters: { readonly enqueueAccepted: number };
}

/** The publisher of traces; read when metrics are collected. */
interface PublisherReading {
  readonly published: number;
  readonly spoolMaxBytes: number;
  readonly figures: PublisherFigures;
}

/** The client connections of a server; read when metrics are collected. */
interface ConnectionReading {
  readonly open: number;
  readonly limit: number;
  /** Those that were refused or ended, by reason, since the server was made. */
  readonly closed: Readonly<Record<string, number>>;
}

/** The gateway's metrics. What is counted for every request is kept in `RequestSeries`: adding to an instrument of the SDK by its attributes
 *  takes 0.7 µs, adding to a number nothing. Spec: G14.17, G14.27 to G14.34. */
export class GatewayMetrics {
  /** Undefined unless `observability.otel.genai` is on. */
  readonly genai: GenaiMetrics | undefined;
  readonly #metrics: ServiceMetrics;
  readonly #series = new RequestSeries(Date.now);
  readonly #writes: Recorders<typeof WRITE_INSTRUMENTS>;
  readonly #bodies: Recorders<typeof BODY_INSTRUMENTS>;
  #publishing: Recorders<typeof PUBLISH_INSTRUMENTS> | undefined;

  constructor(metrics: ServiceMetrics, genai: boolean) {
    const series = this.#series;
    this.#metrics = metrics;
    this.#writes = metrics.declare(WRITE_INSTRUMENTS);
    this.#bodies = metrics.declare(BODY_INSTRUMENTS);
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

  /** The request's trace was dropped because the queue was full. */
  traceDropped(labels: RequestLabels, status: number): void {
    this.#series.counts(this.#series.of(labels, false), status).dropped += 1;
  }

  writeFailed({ count, ...attributes }: { operation: string; error_class: string; store: string; count: number }): void {
    this.#writes.writeFailed.add(count, attributes);
  }

  /** The work on the exchanges of so many traces took too long. */
  bodiesOmitted(count: number): void {
    this.#bodies.omitted.add(count);
  }

  /** A batch was written, or tried. */
  flushed(batchSize: number, durationMs: number): void {
    this.#writes.flushDuration.record(durationMs / 1_000);
    this.#writes.flushBatchSize.record(batchSize);
  }

  /** From now on the counters of a provider's requests exist, at 0. `route`: such as `/openai/*`. */
  declareProvider(provider: string, route: string): void {
    this.#series.declare(provider, route);
  }

  /** A batch was published, or tried. */
  published(durationMs: number, failures: readonly WriteFailure[]): void {
    this.#publishing ??= this.#metrics.declare(PUBLISH_INSTRUMENTS);
    this.#publishing.duration.record(durationMs / 1_000);
    for (const { error, count } of failures) {
      const cause = PUBLISH_DROP_CAUSES.find((known) => known === error.code) ?? 'unknown';
      this.#publishing.dropped.add(count, { cause });
    }
  }

  /** From now on `read` gives the queue's figures. */
  observeQueue(read: () => QueueReading): void {
    this.#metrics.observe(QUEUE_INSTRUMENTS, () => {
      const { depth, capacity, counters } = read();
      return { depth, capacity, enqueued: counters.enqueueAccepted };
    });
  }

  /** From now on `read` gives how many traces were written to the store. */
  observeWritten(read: () => number): void {
    this.#metrics.observe(WRITTEN_INSTRUMENTS, () => ({ written: read() }));
  }

  /** From now on `read` gives the publisher's figures, and its counters exist, at 0. */
  observePublisher(read: () => PublisherReading): void {
    this.#publishing ??= this.#metrics.declare(PUBLISH_INSTRUMENTS);
    this.#metrics.observe(PUBLISHER_INSTRUMENTS, () => {
      const { published, spoolMaxBytes, figures } = read();
      return {
        published,
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

  /** From now on `read` gives the figures of the connection pools, by name. */
  observePools(read: () => Readonly<Record<string, PoolFigures>>): void {
    this.#metrics.observe(POOL_INSTRUMENTS, () => poolReadings(read()));
  }

  /** From now on `generation` gives that of the plans that apply. */
  observePlans(generation: () => number): void {
    this.#metrics.observe(PLAN_INSTRUMENTS, () => ({ generation: generation() }));
  }

  /** From now on `read` gives the figures of the client connections. */
  observeConnections(read: () => ConnectionReading): void {
    this.#metrics.observe(CONNECTION_INSTRUMENTS, () => {
      const { open, limit, closed } = read();
      return { open, limit, closed: Object.entries(closed).map(([reason, count]) => [{ reason }, count] as const) };
    });
  }
}
