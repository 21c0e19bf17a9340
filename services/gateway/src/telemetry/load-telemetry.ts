import { telemetryParts } from '@vitrine/telemetry/config/otel-config';
import type { GatewayOtelConfig } from './observability-config.ts';

/** The module that starts telemetry, with OpenTelemetry's SDK; undefined when all of it is off. */
export async function loadTelemetry(config: GatewayOtelConfig) {
  return telemetryParts(config) === undefined ? undefined : import('./start-gateway-telemetry.ts');
}
