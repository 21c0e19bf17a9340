import { expect, test } from '@jest/globals';
import { isFault } from '@vitrine/faults/fault';
import { readGatewayConfig } from '../config.ts';

const read = (text: string, env: Record<string, string> = {}) =>
  readGatewayConfig({ path: 'vitrine.yaml', text }, env).observability.otel;

function refusal(text: string, env: Record<string, string> = {}): string {
  try {
    read(text, env);
  } catch (error) {
    if (isFault(error)) return error.say;
    throw error;
  }
  return 'accepted';
}

test('nothing is exported unless it is configured', () => {
  expect(read('')).toEqual({
    enabled: false,
    protocol: 'http/protobuf',
    insecure: true,
    service_name: 'svc-gateway',
    traces_enabled: true,
    metrics_enabled: true,
    prometheus_enabled: false,
    prometheus_path: '/metrics',
    prometheus_public: false,
    sampling_ratio: 1,
    export_timeout_ms: 3_000,
    metric_export_interval_ms: 10_000,
    genai: false,
  });
});

test('environment wins over YAML: OTEL_*, then the keys of the gateway, then SVC_PROMETHEUS_*', () => {
  const yaml =
    'observability: {otel: {endpoint: "of-yaml:1", service_name: of-yaml, sampling_ratio: 0.1, prometheus_path: /yaml}}';
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: 'of-otel:2', OTEL_SERVICE_NAME: 'of-otel', OTEL_TRACES_SAMPLER_ARG: '0.2' };
  const own = { SVC_OBSERVABILITY_OTEL_SERVICE_NAME: 'of-svc', SVC_OBSERVABILITY_OTEL_PROMETHEUS_PATH: '/svc' };
  expect(read(yaml, { ...otel, ...own, SVC_PROMETHEUS_PATH: '/alias' })).toMatchObject({
    enabled: true,
    endpoint: 'of-otel:2',
    service_name: 'of-svc',
    sampling_ratio: 0.2,
    prometheus_path: '/alias',
  });
});

test('every fault is reported at once, by its key and its variable', () => {
  const yaml = 'observability: {otel: {endpoint: "", service_name: " ", export_timeout_ms: 0, tracing: true}}';
  const env = { OTEL_TRACES_SAMPLER_ARG: '1.5', OTEL_METRIC_EXPORT_INTERVAL: 'soon', OTEL_TRACES_EXPORTER: 'zipkin' };
  const said = refusal(yaml, env);
  expect(said).toMatch(/has 7 faults/);
  for (const line of [
    'OTEL_TRACES_EXPORTER: must be otlp or none',
    'observability.otel.endpoint (SVC_OBSERVABILITY_OTEL_ENDPOINT): must not be empty',
    'observability.otel.service_name (SVC_OBSERVABILITY_OTEL_SERVICE_NAME): must not be empty',
    'observability.otel.sampling_ratio (OTEL_TRACES_SAMPLER_ARG): ',
    'observability.otel.export_timeout_ms (SVC_OBSERVABILITY_OTEL_EXPORT_TIMEOUT_MS): must be a positive integer',
    'observability.otel.metric_export_interval_ms (OTEL_METRIC_EXPORT_INTERVAL): ',
    'observability.otel.tracing: unknown key',
  ])
    expect(said).toContain(line);
});

test.each(['/api/metrics', '/openai', '/anthropic/x', '/llm', '/llm/metrics', 'metrics', '/'])(
  'the scrape may not be at %s',
  (path) => {
    const yaml = 'providers: {openai: {prefix: /llm}}';
    expect(refusal(yaml, { SVC_PROMETHEUS_PATH: path })).toMatch(
      /observability.otel.prometheus_path \(SVC_PROMETHEUS_PATH\): must/,
    );
  },
);
