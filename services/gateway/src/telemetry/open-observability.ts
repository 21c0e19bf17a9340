import type { Permission } from '@vitrine/gateway-keys/permission';
import type { RawRoute } from '@vitrine/http-api/api-app';
import { respondWithScrape } from '@vitrine/http-api/respond-with-scrape';
import type { Logger } from '@vitrine/telemetry/logger';
import type { TraceSink } from '@vitrine/trace-derivation/trace-sink';
import type { AccessLog } from './access-log.ts';
import { instrumentRequests, type InstrumentRequest, type ProxiedProviders, type TelemetryContext } from './request-telemetry.ts';
import { instrumentedSink } from './instrumented-sink.ts';
import { loadTelemetry } from './load-telemetry.ts';
import type { GatewayOtelConfig } from './observability-config.ts';
import type { GatewayTelemetry } from './start-gateway-telemetry.ts';
import { VERSION } from './version.ts';

/** Telemetry of the gateway; all members are no-ops when telemetry is off. */
export type Observability = Awaited<ReturnType<typeof openObservability>>;

/** Starts the configured telemetry. Without any, OpenTelemetry's SDK is not loaded. */
export async function openObservability(config: GatewayOtelConfig, logger: Logger) {
  const telemetry = await openTelemetry(config, logger);
  const context: TelemetryContext = { spans: telemetry?.spans, metrics: telemetry?.metrics, genai: config.genai };
  const scrape: RawRoute<Permission> | undefined = telemetry?.scrape && {
    path: config.prometheus_path,
    permission: config.prometheus_public ? 'public' : 'analytics:read',
    respond: respondWithScrape(telemetry.scrape),
  };
  return {
    /** Whether requests get spans, whose context is then forwarded to the providers. */
    hasSpans: telemetry?.spans !== undefined,
    /** Undefined when metrics are off. */
    metrics: telemetry?.metrics,
    /** The native scrape endpoint; undefined unless it is on. Spec: G2.13, G9.9. */
    scrape,
    /** Undefined when neither telemetry nor the access log is on. */
    instrumentRequests: (proxied: ProxiedProviders, access: AccessLog | undefined): InstrumentRequest | undefined =>
      telemetry === undefined && access === undefined ? undefined : instrumentRequests({ ...context, access }, proxied),
    /** `sink`, with metrics and spans of its batches. `store`: the store that it writes to, undefined when it publishes. */
    instrumentSink: (sink: TraceSink, store: string | undefined): TraceSink =>
      telemetry === undefined ? sink : instrumentedSink(sink, store, context),
    // Two steps of the shutdown. Spec: G19.1, G19.2.
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
