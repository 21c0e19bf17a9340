import { z } from 'zod';
import { parseEndpoint } from './otlp-endpoint.ts';
import type { NamedVariable } from '@vitrine/config/read-config';

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

/** What an exporter needs. Every setting can differ for one signal. */
const exporterFields = {
  /** `host:port`, or a URL. The scheme of a URL has precedence over `insecure`. Default: localhost with the protocol's port, 4318, or
   *  4317 for gRPC. A URL for one signal is used as it is. */
  endpoint: z
    .string()
    .trim()
    .min(1, { error: 'must not be empty', abort: true })
    .refine((text) => parseEndpoint(text) !== undefined, 'must be host:port, or an http:// or https:// URL'),
  protocol: z.enum(['http/protobuf', 'http/json', 'grpc']),
  insecure: z.boolean(),
  export_timeout_ms: milliseconds,
};
const signalExporter = z.strictObject(exporterFields).partial().optional();

export type OtelConfig = Readonly<z.infer<ReturnType<typeof otelConfig>>>;

/** The schema of the configuration under `observability.otel`; field names are the YAML keys. A service extends it with keys of its own.
 *  Spec: G14.1 to G14.6, G16.7. */
export function otelConfig({ serviceName, reservedPaths }: OtelConfigOptions) {
  return z.strictObject({
    /** Spans and pushed metrics; the scrape depends on `prometheus_enabled` alone. */
    enabled: z.boolean().default(false),
    endpoint: exporterFields.endpoint.optional(),
    protocol: exporterFields.protocol.default('http/protobuf'),
    insecure: exporterFields.insecure.default(true),
    traces: signalExporter,
    metrics: signalExporter,
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
    export_timeout_ms: exporterFields.export_timeout_ms.default(3_000),
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

/** The enabled parts of telemetry; undefined when none is, so that nothing has to be loaded. `push`: metrics over OTLP. */
export function telemetryParts(config: OtelConfig) {
  const parts = {
    spans: config.enabled && config.traces_enabled,
    push: config.enabled && config.metrics_enabled,
    scrape: config.prometheus_enabled,
  };
  return parts.spans || parts.push || parts.scrape ? parts : undefined;
}

/** What a variable sets, by field of `observability.otel`; undefined for a text that it does not take. */
type Read = (text: string) => Readonly<Record<string, string>> | undefined;

const BOOLEAN = 'true or false';
/** A header that HTTP and gRPC can send: a name that ends with `-bin` has bytes as its value, and the exporters drop what follows `;`. */
const HEADER = /^([\w.-]+(?<!-bin))\s*=([^;]+)$/i;

/** Where a service's configuration has the keys of `otelConfig`. */
const SECTION = 'observability.otel';

/** The variables of OpenTelemetry and of the scrape, for `readConfig`. They override YAML. A service's own variables override those of OpenTelemetry,
 *  which platforms set for all programs. `<prefix>PROMETHEUS_*` override both, and `OTEL_SDK_DISABLED` switches everything off. `prefix`: of the
 *  service's variables, such as `SVC_`. Spec: G14.4, G14.7 to G14.10, G14.36. */
export function otelVariables(prefix: string): NamedVariable[] {
  return [
    ...exporterVariables('', ''),
    ...exporterVariables('TRACES_', 'traces.'),
    ...exporterVariables('METRICS_', 'metrics.'),
    named('OTEL_SERVICE_NAME', 'a name', (text) => ({ service_name: text })),
    named('OTEL_TRACES_EXPORTER', 'otlp or none', readTracesExporter),
    named('OTEL_METRICS_EXPORTER', 'otlp, prometheus, both, or none', readMetricsExporter),
    named('OTEL_TRACES_SAMPLER_ARG', 'a number', (text) => ({ sampling_ratio: text })),
    named('OTEL_METRIC_EXPORT_INTERVAL', 'milliseconds', (text) => ({ metric_export_interval_ms: text })),
    named(`${prefix}PROMETHEUS_ENABLED`, BOOLEAN, toBoolean('prometheus_enabled'), true),
    named(`${prefix}PROMETHEUS_PATH`, 'a path', (text) => ({ prometheus_path: text }), true),
    named('OTEL_SDK_DISABLED', BOOLEAN, readDisabled, true),
  ];
}

/** The variables of the exporters of both signals, or of one. Headers are secrets. They are only checked, so that they are in no log of the
 *  configuration: the exporters read them themselves. Spec: G14.37. */
function exporterVariables(signal: string, at: string): NamedVariable[] {
  const prefix = `OTEL_EXPORTER_OTLP_${signal}`;
  const headers = 'name=value pairs with commas between them, percent-encoded';
  return [
    named(`${prefix}ENDPOINT`, 'an address', (text) => ({ [`${at}endpoint`]: text, enabled: 'true' })),
    named(`${prefix}PROTOCOL`, 'grpc, http/protobuf or http/json', (text) => ({ [`${at}protocol`]: text })),
    named(`${prefix}INSECURE`, BOOLEAN, toBoolean(`${at}insecure`)),
    named(`${prefix}TIMEOUT`, 'milliseconds', (text) => ({ [`${at}export_timeout_ms`]: text })),
    named(`${prefix}HEADERS`, headers, (text) => (text.split(',').every(isHeader) ? {} : undefined)),
  ];
}

/** A comma may end the list. */
function isHeader(text: string): boolean {
  const [, , value = '%'] = HEADER.exec(text.trim()) ?? [];
  try {
    return text.trim() === '' || /^[ -~]+$/.test(decodeURIComponent(value.trim()));
  } catch {
    return false;
  }
}

/** A variable that sets fields of the section. `wins`: whether it has precedence over the service's own variable for the same field. */
function named(name: string, expects: string, read: Read, wins = false): NamedVariable {
  const sets = (text: string) => {
    const fields = read(text);
    return fields && Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${SECTION}.${field}`, value]));
  };
  return { name, wins, expects, sets };
}

function toBoolean(field: string): Read {
  return (text) => {
    const value = text.toLowerCase();
    return value === 'true' || value === 'false' ? { [field]: value } : undefined;
  };
}

function readTracesExporter(text: string): ReturnType<Read> {
  if (text === 'otlp') return { traces_enabled: 'true' };
  return text === 'none' ? { traces_enabled: 'false' } : undefined;
}

/** `none` disables the push and not the scrape, which depends on `prometheus_enabled` alone. */
function readMetricsExporter(text: string): ReturnType<Read> {
  const names = text.split(',').map((name) => name.trim());
  if (text === 'none') return { metrics_enabled: 'false' };
  if (!names.every((name) => name === 'otlp' || name === 'prometheus')) return undefined;
  return {
    metrics_enabled: String(names.includes('otlp')),
    ...(names.includes('prometheus') ? { prometheus_enabled: 'true' } : {}),
  };
}

function readDisabled(text: string): ReturnType<Read> {
  const value = text.toLowerCase();
  if (value === 'true') return { enabled: 'false', prometheus_enabled: 'false' };
  return value === 'false' ? {} : undefined;
}
