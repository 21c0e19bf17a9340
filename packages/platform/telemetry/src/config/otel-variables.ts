import type { NamedVariable } from '@vitrine/config/read-config';

/** The values that a variable sets, by field of `observability.otel`; undefined for an invalid text. */
type Read = (text: string) => Readonly<Record<string, string>> | undefined;

const BOOLEAN = 'true or false';

/** Path of the keys of `otelConfig` in a service's configuration. */
const SECTION = 'observability.otel';

/** The variables of OpenTelemetry and of the scrape, for `readConfig`; they have precedence over YAML. A service's own variables have
 *  precedence over those of OpenTelemetry, which platforms set for every program at once; `<prefix>PROMETHEUS_*` have precedence over both,
 *  and `OTEL_SDK_DISABLED` switches everything off. `prefix`: that of the service's variables, such as `SVC_`.
 *  Spec: G14.4, G14.7 to G14.10. */
export function otelVariables(prefix: string): NamedVariable[] {
  return [
    named('OTEL_EXPORTER_OTLP_ENDPOINT', 'an address', (text) => ({ endpoint: text, enabled: 'true' })),
    named('OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc, http/protobuf or http/json', (text) => ({ protocol: text })),
    named('OTEL_EXPORTER_OTLP_INSECURE', BOOLEAN, toBoolean('insecure')),
    named('OTEL_SERVICE_NAME', 'a name', (text) => ({ service_name: text })),
    named('OTEL_TRACES_EXPORTER', 'otlp or none', readTracesExporter),
    named('OTEL_METRICS_EXPORTER', 'otlp, prometheus, both, or none', readMetricsExporter),
    named('OTEL_TRACES_SAMPLER_ARG', 'a number', (text) => ({ sampling_ratio: text })),
    named('OTEL_EXPORTER_OTLP_TIMEOUT', 'milliseconds', (text) => ({ export_timeout_ms: text })),
    named('OTEL_METRIC_EXPORT_INTERVAL', 'milliseconds', (text) => ({ metric_export_interval_ms: text })),
    named(`${prefix}PROMETHEUS_ENABLED`, BOOLEAN, toBoolean('prometheus_enabled'), true),
    named(`${prefix}PROMETHEUS_PATH`, 'a path', (text) => ({ prometheus_path: text }), true),
    named('OTEL_SDK_DISABLED', BOOLEAN, readDisabled, true),
  ];
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

/** `none` disables the push but not the scrape, which depends only on `prometheus_enabled`. */
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
