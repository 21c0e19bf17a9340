import type { Tracer } from '@opentelemetry/api';
import { startTelemetry, type Telemetry, type TelemetryOptions } from '@vitrine/telemetry/start-telemetry';
import { recordWriteSpan, type WrittenBatch } from '@vitrine/traces/write-telemetry';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayMetrics } from './metrics/gateway-metrics.ts';
import type { GatewayOtelConfig } from './observability-config.ts';
import { RequestSpan } from './spans/request-span.ts';

/** Running telemetry, with the gateway's own metrics and spans. */
export interface GatewayTelemetry extends Omit<Telemetry, 'metrics' | 'tracer'> {
  /** Undefined when metrics are neither pushed nor scraped. */
  readonly metrics: GatewayMetrics | undefined;
  /** Undefined when spans are off. A client's own trace headers then pass unchanged. */
  readonly spans: GatewaySpans | undefined;
}

interface GatewayTelemetryOptions extends Pick<TelemetryOptions, 'version' | 'onExportError'> {
  readonly config: GatewayOtelConfig;
}

/** Starts what `config` enables; undefined when it enables nothing. See `startTelemetry`. Spec: G14.18 to G14.34. */
export async function startGatewayTelemetry(options: GatewayTelemetryOptions): Promise<GatewayTelemetry | undefined> {
  const telemetry = await startTelemetry({ ...options, scope: 'vitrine.gateway', metricPrefix: 'svc' });
  if (telemetry === undefined) return undefined;
  const { genai } = options.config;
  const { metrics, tracer, ...running } = telemetry;
  return {
    ...running,
    metrics: metrics && new GatewayMetrics(metrics, genai),
    spans: tracer && gatewaySpans(tracer, genai),
  };
}

/** The gateway's spans. Times are those of `performance.now()`. Spec: G14.18 to G14.25. */
export type GatewaySpans = ReturnType<typeof gatewaySpans>;

/** `genai`: whether client spans have the attributes of the GenAI conventions. */
function gatewaySpans(tracer: Tracer, genai: boolean) {
  return {
    /** Begins the server span of a request; a sampled `traceparent` is respected. `route`: `/openai/*`, `/anthropic/*`, `/api/*` or `/other`. */
    begin: (at: number, method: string, route: string, headers: IncomingHttpHeaders) =>
      new RequestSpan(tracer, at, method, route, headers, genai),
    /** Records one `gateway.trace.write` span, a trace of its own: a batch belongs to no single request. */
    batchWritten: (batch: WrittenBatch) => recordWriteSpan(tracer, batch),
  };
}
