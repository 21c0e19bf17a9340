import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { readOrdersConfig } from '../testing/orders-service.ts';
import { telemetryParts } from './otel-config.ts';
import { signalExporter } from './otlp-endpoint.ts';

function refusal(yaml: Record<string, unknown>, env: Record<string, string> = {}): string {
  try {
    readOrdersConfig(yaml, env);
  } catch (error) {
    expect(codeOf(error)).toBe('invalid_config');
    return messageOf(error);
  }
  throw new Error('was accepted');
}

describe('observability.otel', () => {
  test('has the defaults of the specification, frozen', () => {
    const config = readOrdersConfig({}, {});
    expect(config).toEqual({
      enabled: false,
      protocol: 'http/protobuf',
      insecure: true,
      service_name: 'svc-orders',
      traces_enabled: true,
      metrics_enabled: true,
      prometheus_enabled: false,
      prometheus_path: '/metrics',
      prometheus_public: false,
      sampling_ratio: 1,
      export_timeout_ms: 3000,
      metric_export_interval_ms: 10000,
    });
    expect(Object.isFrozen(config)).toBe(true);
    expect(telemetryParts(config)).toBeUndefined();
  });

  test.each([
    [{ endpoint: '' }, /endpoint/],
    [{ endpoint: 'ftp://collector:4318' }, /endpoint/],
    [{ endpoint: 'http://user:secret@collector' }, /endpoint/],
    [{ endpoint: 'collector:99999' }, /endpoint/],
    [{ service_name: '  ' }, /service_name/],
    [{ sampling_ratio: 1.1 }, /sampling_ratio/],
    [{ sampling_ratio: -0.1 }, /sampling_ratio/],
    [{ export_timeout_ms: 0 }, /export_timeout_ms/],
    [{ metric_export_interval_ms: 2.5 }, /metric_export_interval_ms/],
    [{ prometheus_path: 'metrics' }, /prometheus_path/],
    [{ prometheus_path: '/' }, /prometheus_path/],
    [{ prometheus_path: '/api/metrics' }, /must not overlap/],
    [{ prometheus_path: '/orders' }, /must not overlap/],
    [{ prometheus_path: '/orders/x' }, /must not overlap/],
    [{ sample: 1 }, /unknown key/],
  ])('refuses %j', (yaml, expected) => {
    expect(refusal(yaml)).toMatch(expected);
  });

  test('a path that only begins like a reserved one does not overlap', () => {
    expect(readOrdersConfig({ prometheus_path: '/apis' }, {}).prometheus_path).toBe('/apis');
  });

  test('every fault is reported at once, by the variable that caused it', () => {
    const said = refusal(
      { service_name: '', export_timeout_ms: -1 },
      { OTEL_TRACES_SAMPLER_ARG: '7', OTEL_TRACES_EXPORTER: 'zipkin', ORDERS_PROMETHEUS_PATH: '/api', OTEL_SDK_DISABLED: '1' },
    );
    expect(said).toMatch(/has 6 faults/);
    expect(said).toMatch(/sampling_ratio \(OTEL_TRACES_SAMPLER_ARG\)/);
    expect(said).toMatch(/OTEL_TRACES_EXPORTER: must be otlp or none/);
    expect(said).toMatch(/prometheus_path \(ORDERS_PROMETHEUS_PATH\)/);
    expect(said).toMatch(/OTEL_SDK_DISABLED: must be true or false/);
  });
});

describe('variables', () => {
  test.each([
    [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'c:1' }, { enabled: true, endpoint: 'c:1' }],
    [{ endpoint: 'yaml:1' }, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, { enabled: false, endpoint: 'yaml:1' }],
    [{}, { OTEL_EXPORTER_OTLP_INSECURE: 'false' }, { insecure: false, enabled: false }],
    [{ service_name: 'yaml' }, { OTEL_SERVICE_NAME: 'env' }, { service_name: 'env' }],
    [{}, { OTEL_TRACES_EXPORTER: 'none' }, { traces_enabled: false }],
    [{ traces_enabled: false }, { OTEL_TRACES_EXPORTER: 'otlp' }, { traces_enabled: true }],
    [{}, { OTEL_METRICS_EXPORTER: 'prometheus' }, { metrics_enabled: false, prometheus_enabled: true }],
    [{}, { OTEL_METRICS_EXPORTER: 'otlp, prometheus' }, { metrics_enabled: true, prometheus_enabled: true }],
    [{ prometheus_enabled: true }, { OTEL_METRICS_EXPORTER: 'none' }, { metrics_enabled: false, prometheus_enabled: true }],
    [{}, { OTEL_TRACES_SAMPLER_ARG: '0.25' }, { sampling_ratio: 0.25 }],
    [
      {},
      { OTEL_EXPORTER_OTLP_TIMEOUT: '5', OTEL_METRIC_EXPORT_INTERVAL: '6' },
      { export_timeout_ms: 5, metric_export_interval_ms: 6 },
    ],
    [{}, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, { protocol: 'grpc' }],
    [{}, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'c:1' }, { enabled: true, traces: { endpoint: 'c:1' } }],
    [{}, { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'c:1' }, { enabled: true, metrics: { endpoint: 'c:1' } }],
    [
      { traces: { endpoint: 'yaml:1' } },
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ' ' },
      { enabled: false, traces: { endpoint: 'yaml:1' } },
    ],
    [
      {},
      {
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '7',
        OTEL_EXPORTER_OTLP_TRACES_INSECURE: 'false',
      },
      { protocol: 'http/protobuf', traces: { protocol: 'grpc', export_timeout_ms: 7, insecure: false } },
    ],
    [{}, { OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '7' }, { export_timeout_ms: 3000, metrics: { export_timeout_ms: 7 } }],
    [{}, { OTEL_METRICS_EXPORTER: 'prometheus', ORDERS_PROMETHEUS_ENABLED: 'false' }, { prometheus_enabled: false }],
    [{}, { ORDERS_OBSERVABILITY_OTEL_PROMETHEUS_PATH: '/a', ORDERS_PROMETHEUS_PATH: '/b' }, { prometheus_path: '/b' }],
    [{}, { OTEL_SERVICE_NAME: 'all', ORDERS_OBSERVABILITY_OTEL_SERVICE_NAME: 'own' }, { service_name: 'own' }],
    [
      {},
      { OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_ENDPOINT: 'c:1', ORDERS_PROMETHEUS_ENABLED: 'true' },
      { enabled: false, prometheus_enabled: false },
    ],
  ])('%j and %j give %j', (yaml, env, expected) => {
    expect(readOrdersConfig(yaml, env)).toMatchObject(expected);
  });

  const LIST = 'must be name=value pairs with commas between them, percent-encoded';
  test.each([
    'authorization',
    'authorization: Bearer s3cret',
    '=s3cret',
    'authorization=%s3cret',
    'authorization=s3cret%0A',
    'authorization=s3cr%C3%A9t',
    'authorization=s3cret;p=1',
    'x-trace-bin=s3cret',
    'a b=s3cret',
    'a=s3cret,b',
    'a=',
  ])('headers %j are refused without their values', (text) => {
    for (const signal of ['', 'TRACES_', 'METRICS_']) {
      const said = refusal({}, { [`OTEL_EXPORTER_OTLP_${signal}HEADERS`]: text });
      expect(said).toBe(`the configuration has 1 fault\n  OTEL_EXPORTER_OTLP_${signal}HEADERS: ${LIST}`);
    }
  });

  test('headers are not part of the configuration, which is logged', () => {
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20s3cret',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=s3cret,',
    };
    expect(readOrdersConfig({}, env)).toEqual(readOrdersConfig({}, {}));
  });

  test('enabled: false leaves the scrape, OTEL_SDK_DISABLED does not', () => {
    const config = readOrdersConfig({ prometheus_enabled: true }, {});
    expect(telemetryParts(config)).toEqual({ spans: false, push: false, scrape: true });
    expect(
      telemetryParts(readOrdersConfig({ prometheus_enabled: true, enabled: true }, { OTEL_SDK_DISABLED: 'true' })),
    ).toBeUndefined();
  });
});

describe('the address of an exporter', () => {
  test.each([
    [{}, 'http://localhost:4318/v1/traces'],
    [{ protocol: 'grpc' }, 'http://localhost:4317'],
    [{ endpoint: 'collector' }, 'http://collector:4318/v1/traces'],
    [{ endpoint: 'collector', protocol: 'grpc', insecure: false }, 'https://collector:4317'],
    [{ endpoint: 'collector:9', insecure: false }, 'https://collector:9/v1/traces'],
    [{ endpoint: 'http://collector:9', insecure: false }, 'http://collector:9/v1/traces'],
    [{ endpoint: 'https://collector/otlp/', insecure: true }, 'https://collector/otlp/v1/traces'],
    [{ endpoint: 'http://collector', protocol: 'grpc' }, 'http://collector:4317'],
    [{ endpoint: '[::1]:9' }, 'http://[::1]:9/v1/traces'],
    [{ traces: { endpoint: 'https://collector/in/' } }, 'https://collector/in/'],
    [{ traces: { endpoint: 'http://collector:9' }, endpoint: 'http://other:9' }, 'http://collector:9'],
    [{ traces: { endpoint: 'collector:9', insecure: false } }, 'https://collector:9/v1/traces'],
    [{ traces: { endpoint: 'http://collector/in', protocol: 'grpc' } }, 'http://collector:4317'],
    [{ traces: { protocol: 'grpc' } }, 'http://localhost:4317'],
    [{ metrics: { endpoint: 'http://collector:9', protocol: 'grpc' } }, 'http://localhost:4318/v1/traces'],
  ])('%j is %s', (yaml, expected) => {
    expect(signalExporter(readOrdersConfig(yaml, {}), 'traces').url).toBe(expected);
  });
});
