import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import type { Logger } from '@vitrine/telemetry/logger';
import type { TraceSink } from '@vitrine/trace-derivation/trace-sink';
import type { RawRoute } from '@vitrine/http-api/api-app';
import { respondWithScrape } from '@vitrine/http-api/respond-with-scrape';
import type { Permission } from '@vitrine/gateway-keys/permission';
import type { ClientConnections } from '@vitrine/http-api/connections/client-connections';
import type { TraceQueue } from '../recording/capture/trace-queue.ts';
import { VERSION } from './version.ts';
import type { AccessLog } from './access-log.ts';
import { instrumentRequests, type InstrumentRequest, type ProxiedProviders } from './instrument-requests.ts';
import { instrumentedSink } from './instrumented-sink.ts';
import { recordPublishing, recordWrites } from './record-batches.ts';
import type { TracePublisher } from '../recording/publisher/open-publisher.ts';
import { loadTelemetry } from './load-telemetry.ts';
import type { GatewayOtelConfig } from './observability-config.ts';
import type { TelemetryContext } from './request-telemetry.ts';
import type { GatewayTelemetry } from './start-gateway-telemetry.ts';

/** Telemetry of the gateway; everything here does nothing when telemetry is off. */
export interface Observability extends Disposable {
  /** Whether requests get spans, whose context then goes on to the providers. */
  readonly hasSpans: boolean;
  /** The native scrape endpoint; undefined unless it is on. Spec: G2.13, G9.9. */
  readonly scrape: RawRoute<Permission> | undefined;
  /** Undefined when neither telemetry nor the access log is on. */
  instrumentRequests(proxied: ProxiedProviders, access: AccessLog | undefined): InstrumentRequest | undefined;
  /** `sink`, with metrics and spans of its batches, which go to the store of this name or to a publisher. */
  instrumentSink(sink: TraceSink, store: string, publisher: TracePublisher | undefined): TraceSink;
  /** `publisher`: of the traces that leave the queue; undefined when they are written here. */
  observeQueue(queue: TraceQueue, publisher: TracePublisher | undefined): void;
  observePools(read: () => Readonly<Record<string, PoolFigures>>): void;
  observeConnections(connections: ClientConnections, limit: number): void;
  /** `generation`: of the plans that apply. */
  observePlans(generation: () => number): void;
  /** Two steps of the shutdown. Spec: G19.1, G19.2. */
  flushSpans(): Promise<void>;
  flushMetrics(): Promise<void>;
}

/** Starts what is configured of telemetry; without any of it, nothing of OpenTelemetry's SDK is loaded. */
export async function openObservability(config: GatewayOtelConfig, logger: Logger): Promise<Observability> {
  const telemetry = await openTelemetry(config, logger);
  const context: TelemetryContext = { spans: telemetry?.spans, metrics: telemetry?.metrics, genai: config.genai };
  return {
    hasSpans: telemetry?.spans !== undefined,
    scrape: telemetry?.scrape && {
      path: config.prometheus_path,
      permission: config.prometheus_public ? 'public' : 'analytics:read',
      respond: respondWithScrape(telemetry.scrape),
    },
    instrumentRequests: (proxied, access) =>
      telemetry === undefined && access === undefined ? undefined : instrumentRequests({ ...context, access }, proxied),
    instrumentSink: (sink, store, publisher) => {
      if (telemetry === undefined) return sink;
      const recordBatch = publisher === undefined ? recordWrites(store, context) : recordPublishing(context);
      return instrumentedSink(sink, recordBatch, context.metrics);
    },
    observeQueue: (queue, publisher) => {
      telemetry?.metrics?.observeQueue(() => queue);
      if (publisher === undefined) telemetry?.metrics?.observeWritten(() => queue.counters.written);
      else
        telemetry?.metrics?.observePublisher(() => ({
          ...publisher,
          published: queue.counters.written,
          figures: publisher.figures,
        }));
    },
    observePools: (read) => telemetry?.metrics?.observePools(read),
    observeConnections: (connections, limit) =>
      telemetry?.metrics?.observeConnections(() => ({ open: connections.size, limit, closed: connections.closed })),
    observePlans: (generation) => telemetry?.metrics?.observePlans(generation),
    flushSpans: async () => telemetry?.flushSpans(),
    flushMetrics: async () => telemetry?.flushMetrics(),
    [Symbol.dispose]: () => telemetry?.[Symbol.dispose](),
  };
}

async function openTelemetry(config: GatewayOtelConfig, logger: Logger): Promise<GatewayTelemetry | undefined> {
  const loaded = await loadTelemetry(config);
  if (loaded === undefined) return undefined;
  const { endpoint } = config;
  const next_step = 'look at the collector and at the protocol of its port: docs/failure-modes.md#telemetry-that-does-not-arrive';
  const onExportError = (reason: string) => logger.warn({ reason, endpoint, next_step }, 'telemetry export failed');
  return loaded.startGatewayTelemetry({ config, version: VERSION, onExportError });
}
