import { readGatewayConfig } from '../config.ts';
import type { GatewayOtelConfig } from '../telemetry/observability-config.ts';

/** The configuration of telemetry, from the keys under `observability.otel`. */
export function readTestOtelConfig(otel: Readonly<Record<string, unknown>>): GatewayOtelConfig {
  return readGatewayConfig(undefined, {}, { observability: { otel } }).observability.otel;
}
