import { expect, test } from '@jest/globals';
import { readGatewayConfig, type GatewayConfig } from './config.ts';

test.each([
  ['a store in memory, of which each thread would have its own', { SVC_STORAGE_PATH: ':memory:' }, 'storage.path'],
  ['a URI as a path', { SVC_STORAGE_PATH: 'file:traces.db?mode=ro' }, 'storage.path'],
  ['the file of the gateway keys for the traces', { SVC_STORAGE_PATH: 'data/gateway-keys.db' }, 'storage.path'],
  ['one port for the gateway and for the scrape', { SVC_SERVER_PORT: '9464' }, 'observability.otel.prometheus_port'],
])('refuses %s', (_, variables, path) => {
  const text = 'observability: { otel: { prometheus_port: 9464 } }';
  const read = () => readGatewayConfig({ path: 'vitrine.yaml', text }, variables);
  expect(read).toThrow(new RegExp(`has 1 fault\n  ${path.replaceAll('.', '\\.')} `));
});

test('any free port for both is no conflict', () => {
  const variables = { SVC_SERVER_PORT: '0', SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT: '0' };
  expect(readGatewayConfig(undefined, variables).server.port).toBe(0);
});

test('every key of milliseconds takes a duration under its name without _ms, in YAML and as a variable', () => {
  const text = `
proxy: { connect_timeout: 3s, first_byte_timeout: 2m, idle_timeout: 1.5s }
observability: { otel: { export_timeout: 250ms, metric_export_interval: 1h } }`;
  const times = ({ proxy, observability: { otel } }: GatewayConfig) => [
    proxy.connect_timeout_ms,
    proxy.first_byte_timeout_ms,
    proxy.idle_timeout_ms,
    otel.export_timeout_ms,
    otel.metric_export_interval_ms,
  ];
  expect(times(readGatewayConfig({ path: 'vitrine.yaml', text }, {}))).toEqual([3_000, 120_000, 1_500, 250, 3_600_000]);
  const variables = {
    SVC_PROXY_CONNECT_TIMEOUT: '1s',
    SVC_PROXY_FIRST_BYTE_TIMEOUT: '2s',
    SVC_PROXY_IDLE_TIMEOUT: '3s',
    SVC_OBSERVABILITY_OTEL_EXPORT_TIMEOUT: '4s',
    SVC_OBSERVABILITY_OTEL_METRIC_EXPORT_INTERVAL: '5s',
  };
  expect(times(readGatewayConfig({ path: 'vitrine.yaml', text }, variables))).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
  // OpenTelemetry's own variables are milliseconds everywhere.
  const otel = { OTEL_EXPORTER_OTLP_TIMEOUT: '4s', OTEL_METRIC_EXPORT_INTERVAL: '7000' };
  expect(() => readGatewayConfig(undefined, otel)).toThrow(/export_timeout_ms \(OTEL_EXPORTER_OTLP_TIMEOUT\): /);
});
