import { startTelemetry, type Telemetry, type TelemetryOptions } from '@vitrine/telemetry/start-telemetry';
import { GatewayMetrics } from './metrics/gateway-metrics.ts';
import type { GatewayOtelConfig } from './observability-config.ts';
import { GatewaySpans } from './spans/gateway-spans.ts';

/** Running telemetry, with the gateway's own metrics and spans. */
export interface GatewayTelemetry extends Omit<Telemetry, 'metrics' | 'tracer'> {
  /** Undefined when metrics are neither pushed nor scraped. */
  readonly metrics: GatewayMetrics | undefined;
  /** Undefined when spans are off: a client's own trace headers then pass unchanged. */
  readonly spans: GatewaySpans | undefined;
}

interface GatewayTelemetryOptions extends Pick<TelemetryOptions, 'version' | 'onExportError'> {
  readonly config: GatewayOtelConfig;
}

/** Starts what `config` enables; undefined when that is nothing. See `startTelemetry`. Spec: G14.18 to G14.34. */
export async function startGatewayTelemetry(options: GatewayTelemetryOptions): Promise<GatewayTelemetry | undefined> {
  const telemetry = await startTelemetry({ ...options, scope: 'vitrine.gateway', metricPrefix: 'svc' });
  if (telemetry === undefined) return undefined;
  const { genai } = options.config;
  const { metrics, tracer, ...running } = telemetry;
  return {
    ...running,
    metrics: metrics && new GatewayMetrics(metrics, genai),
    spans: tracer && new GatewaySpans(tracer, genai),
  };
}
