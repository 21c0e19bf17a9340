import { readVersion } from '@vitrine/config/read-version';
import { otelConfig } from '@vitrine/telemetry/config/otel-config';
import { z } from 'zod';

const otel = otelConfig({ serviceName: 'svc-gateway', reservedPaths: ['/api', '/openai', '/anthropic'] }).extend({
  /** Whether the metrics of the GenAI semantic conventions are recorded beside the gateway's own. */
  genai: z.boolean().default(false),
});
export type GatewayOtelConfig = Readonly<z.infer<typeof otel>>;

/** Telemetry of the gateway. Spec: G14.1 to G14.6. */
export const observabilityConfig = z.strictObject({ otel: otel.prefault({}) }).prefault({});

/** The running gateway's version, as `GET /` and `GET /api/health` report it. */
export const VERSION: string = readVersion(new URL('../../package.json', import.meta.url));
