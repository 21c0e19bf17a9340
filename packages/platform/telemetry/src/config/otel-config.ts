import { z } from 'zod';
import { parseEndpoint } from './otlp-endpoint.ts';

/** Every service serves its probes there. */
const PROBE_PATHS = ['/livez', '/readyz'];
/** Maximum interval and timeout of exports: an hour. */
const MAX_MS = 3_600_000;

const milliseconds = z.int().min(1, 'must be a positive integer').max(MAX_MS);

/** What differs between services. */
interface OtelConfigOptions {
  /** Default of `service.name`. */
  readonly serviceName: string;
  /** Paths with another purpose. The scrape must not be at or below one of them. */
  readonly reservedPaths: readonly string[];
}

export type OtelConfig = Readonly<z.infer<ReturnType<typeof otelConfig>>>;

/** The schema of the configuration under `observability.otel`; field names are the YAML keys. A service extends it with keys of its own.
 *  Spec: G14.1 to G14.6, G16.7. */
export function otelConfig({ serviceName, reservedPaths }: OtelConfigOptions) {
  return z.strictObject({
    /** Spans and pushed metrics; the scrape depends on `prometheus_enabled` alone. */
    enabled: z.boolean().default(false),
    /** `host:port`, or a URL. The scheme of a URL has precedence over `insecure`. Default: localhost with the protocol's port, 4318, or
     *  4317 for gRPC. */
    endpoint: z
      .string()
      .trim()
      .min(1, { error: 'must not be empty', abort: true })
      .refine((text) => parseEndpoint(text) !== undefined, 'must be host:port, or an http:// or https:// URL')
      .optional(),
    protocol: z.enum(['http/protobuf', 'http/json', 'grpc']).default('http/protobuf'),
    insecure: z.boolean().default(true),
    service_name: z.string().trim().min(1, 'must not be empty').max(256).default(serviceName),
    traces_enabled: z.boolean().default(true),
    metrics_enabled: z.boolean().default(true),
    prometheus_enabled: z.boolean().default(false),
    prometheus_path: scrapePath(reservedPaths).default('/metrics'),
    /** Port of a listener that serves only the scrape, without a key; 0: any free port. */
    prometheus_port: z.int().min(0).max(65_535).optional(),
    /** Whether the scrape on the main port needs no key. */
    prometheus_public: z.boolean().default(false),
    sampling_ratio: z.number().min(0).max(1).default(1),
    export_timeout_ms: milliseconds.default(3_000),
    metric_export_interval_ms: milliseconds.default(10_000),
  });
}

function scrapePath(servedPaths: readonly string[]) {
  const reservedPaths = [...servedPaths, ...PROBE_PATHS];
  return z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must start with / and name a path')
    .refine((path) => !reservedPaths.some((reserved) => path === reserved || path.startsWith(`${reserved}/`)), {
      error: `must not overlap ${reservedPaths.join(', ')}`,
    });
}

/** What a configuration enables. */
interface TelemetryParts {
  readonly spans: boolean;
  /** Metrics pushed over OTLP. */
  readonly push: boolean;
  readonly scrape: boolean;
}

/** Which parts of telemetry run; undefined when none does, so that nothing of it has to be loaded. */
export function telemetryParts(config: OtelConfig): TelemetryParts | undefined {
  const parts = {
    spans: config.enabled && config.traces_enabled,
    push: config.enabled && config.metrics_enabled,
    scrape: config.prometheus_enabled,
  };
  return parts.spans || parts.push || parts.scrape ? parts : undefined;
}
