import type { Permission } from '@vitrine/gateway-keys/permission';
import type { RawRoute } from '@vitrine/http-api/api-app';
import { respondWithScrape } from '@vitrine/http-api/serve-scrape';
import type { Logger } from '@vitrine/telemetry/logger';
import type { TraceSink, BatchResult } from '@vitrine/trace-derivation/trace-sink';
import type { AccessLog } from './access-log.ts';
import { instrumentRequests, type InstrumentRequest, type ProxiedProviders, type TelemetryContext } from './request-telemetry.ts';
import { loadTelemetry } from './load-telemetry.ts';
import { type GatewayOtelConfig, VERSION } from './observability-config.ts';
import type { GatewayTelemetry } from './start-gateway-telemetry.ts';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { allLost } from '@vitrine/traces/write-result';
import { genaiOperationName } from './exchange-facts.ts';

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
  const endpoints = {
    endpoint: config.endpoint,
    traces_endpoint: config.traces?.endpoint,
    metrics_endpoint: config.metrics?.endpoint,
  };
  const next_step = 'look at the collector and at the protocol of its port: docs/failure-modes.md#telemetry-that-does-not-arrive';
  const onExportError = (reason: string) => logger.warn({ reason, ...endpoints, next_step }, 'telemetry export failed');
  return loaded.startGatewayTelemetry({ config, version: VERSION, onExportError });
}

/** Writes through `sink`, and records its batches and their tokens. `store`: the name of the store that it writes to. Undefined: it publishes,
 *  and the trace-writer records the writes. */
function instrumentedSink(
  sink: TraceSink,
  store: string | undefined,
  { spans, metrics }: Pick<TelemetryContext, 'spans' | 'metrics'>,
): TraceSink {
  if (store !== undefined) metrics?.declareStore(store);
  const recordWrite = (store: string, startedAt: number, batchSize: number, failures: BatchResult['failures']) => {
    const endedAt = performance.now();
    metrics?.flushed(batchSize, endedAt - startedAt);
    spans?.batchWritten({ startedAt, endedAt, batchSize, errorClass: failures[0]?.error_class });
    for (const { operation, error_class, count } of failures) metrics?.writeFailed(count, { operation, error_class, store });
  };
  const record = (
    batchSize: number,
    startedAt: number,
    { failures, tokens = [], unknown = [], bodiesOmitted = 0 }: BatchResult,
  ) => {
    if (bodiesOmitted > 0) metrics?.bodiesOmitted(bodiesOmitted);
    for (const use of unknown) metrics?.unknownUsed(use);
    if (store === undefined) metrics?.published(performance.now() - startedAt, failures);
    else recordWrite(store, startedAt, batchSize, failures);
    for (const { path, provider, model, input_tokens: input, output_tokens: output } of tokens) {
      const operation = genaiOperationName(path);
      if (operation !== undefined) metrics?.genai?.tokensUsed({ operation, provider, requestModel: model }, { input, output });
    }
  };
  return {
    write: async (batch) => {
      const batchSize = batch.count;
      const startedAt = performance.now();
      try {
        const result = await sink.write(batch);
        record(batchSize, startedAt, result);
        return result;
      } catch (error) {
        record(batchSize, startedAt, allLost(batchSize, writeErrorOf(error)));
        throw error;
      }
    },
  };
}
