import { expect, test } from '@jest/globals';
import { documentedKeys } from '@vitrine/testkit/documented-keys';
import { gatewayConfig, readGatewayConfig } from './config.ts';

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

test('port 0 for both is not a conflict', () => {
  const variables = { SVC_SERVER_PORT: '0', SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT: '0' };
  expect(readGatewayConfig(undefined, variables).server.port).toBe(0);
});

test('a duration is a number of milliseconds, and the error for any other form names the key', () => {
  const yaml = (text: string) => () => readGatewayConfig({ path: 'vitrine.yaml', text }, {});
  expect(yaml('proxy: {connect_timeout: 3s}')).toThrow(/proxy\.connect_timeout: unknown key; known keys: connect_timeout_ms, /);
  expect(yaml('proxy: {connect_timeout_ms: 3s}')).toThrow(
    /proxy\.connect_timeout_ms .*: must be a number, not a string; got "3s"/,
  );
  expect(() => readGatewayConfig(undefined, { SVC_PROXY_CONNECT_TIMEOUT: '3s' })).toThrow(
    /did you mean SVC_PROXY_CONNECT_TIMEOUT_MS\?/,
  );
  const otel = { OTEL_EXPORTER_OTLP_TIMEOUT: '4s', OTEL_METRIC_EXPORT_INTERVAL: '7000' };
  expect(() => readGatewayConfig(undefined, otel)).toThrow(/export_timeout_ms \(OTEL_EXPORTER_OTLP_TIMEOUT\): /);
});

const DSN = 'postgresql://gateway:hunter2@db/vitrine';
const POSTGRES = { SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: DSN };
const KAFKA = { ...POSTGRES, SVC_QUEUE_DRIVER: 'kafka', SVC_QUEUE_BROKERS: 'kafka:9092' };

test('Postgres needs a DSN, Kafka needs Postgres and a broker, and the DSN is not printed', () => {
  expect(JSON.stringify(readGatewayConfig(undefined, POSTGRES))).not.toContain('hunter2');
  expect(readGatewayConfig(undefined, KAFKA).queue).toMatchObject({ brokers: ['kafka:9092'], topic: 'vitrine.traces' });
});

test.each([
  ['Postgres without a DSN', { SVC_STORAGE_DRIVER: 'postgres' }, 'storage.dsn (SVC_STORAGE_DSN): must be set'],
  ['a DSN with SQLite', { SVC_STORAGE_DSN: DSN }, 'storage.dsn (SVC_STORAGE_DSN): has no effect'],
  [
    'Kafka with SQLite',
    { SVC_QUEUE_DRIVER: 'kafka', SVC_QUEUE_BROKERS: 'kafka:9092' },
    'queue.driver (SVC_QUEUE_DRIVER): must be memory, because storage.driver is sqlite',
  ],
  ['Kafka without a broker', { ...KAFKA, SVC_QUEUE_BROKERS: '' }, 'queue.brokers (SVC_QUEUE_BROKERS): must name a broker'],
  [
    'brokers that nothing uses',
    { ...POSTGRES, SVC_QUEUE_BROKERS: 'kafka:9092' },
    'queue.brokers (SVC_QUEUE_BROKERS): has no effect',
  ],
  [
    'a pepper of its own for each gateway on one database',
    { ...POSTGRES, SVC_AUTH_ENABLED: 'true' },
    'auth.peppers (SVC_AUTH_PEPPERS): must contain a pepper',
  ],
])('refuses %s', (_, variables, text) => {
  expect(() => readGatewayConfig(undefined, variables)).toThrow(`has 1 fault\n  ${text}`);
});

test('its page in docs lists exactly the keys and variables', () => {
  const page = new URL('../../../docs/gateway.md', import.meta.url);
  const { known, documented } = documentedKeys(page, 'SVC_', gatewayConfig, ['auth.keys', 'pii.scopes']);
  expect(documented).toEqual(known);
});
