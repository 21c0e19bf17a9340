import { expect, test } from '@jest/globals';
import { documentedKeys } from '@vitrine/testkit/documented-keys';
import { readWriterConfig, writerConfig } from './config.ts';

const DSN = 'postgresql://writer:hunter2@db/vitrine';
const NEEDED = { WRITER_STORAGE_DSN: DSN, WRITER_QUEUE_BROKERS: 'kafka-1:9092, kafka-2:9092' };

test('a database and a broker are enough, and secrets are not printed', () => {
  const config = readWriterConfig(undefined, { ...NEEDED, WRITER_QUEUE_SASL_PASSWORD: 'hunter3' });
  expect(config).toMatchObject({
    server: { port: 9090 },
    queue: { brokers: ['kafka-1:9092', 'kafka-2:9092'], topic: 'vitrine.traces' },
    observability: { otel: { service_name: 'svc-trace-writer', prometheus_enabled: true } },
  });
  expect(config.storage.dsn.reveal()).toBe(DSN);
  expect(JSON.stringify(config)).not.toMatch(/hunter/);
});

test.each([
  ['no database', { WRITER_STORAGE_DSN: '' }, /storage\.dsn \(WRITER_STORAGE_DSN\): is required/],
  [
    'a DSN of another form, which is not shown',
    { WRITER_STORAGE_DSN: 'hunter2@db' },
    /storage\.dsn \(WRITER_STORAGE_DSN\): (?!.*hunter)/,
  ],
  ['no broker', { WRITER_QUEUE_BROKERS: '' }, /queue\.brokers .*must name a broker/],
  ['a broker without a port', { WRITER_QUEUE_BROKERS: 'kafka' }, /queue\.brokers.*must be host:port/],
  ['SASL without credentials', { WRITER_QUEUE_SASL_MECHANISM: 'plain' }, /queue\.sasl.*username and password/],
  ['a certificate without its key', { WRITER_QUEUE_TLS_CERT_PATH: 'c.pem' }, /queue\.tls.*cert_path and key_path/],
  ['an unknown key', { WRITER_QUEUE_TOPICS: 'x' }, /WRITER_QUEUE_TOPICS: unknown variable; did you mean WRITER_QUEUE_TOPIC/],
])('refuses %s', (_, variables, message) => {
  expect(() => readWriterConfig(undefined, { ...NEEDED, ...variables })).toThrow(message);
});

test('its page in docs lists exactly the keys and variables', () => {
  const { known, documented } = documentedKeys(
    new URL('../../../docs/trace-writer.md', import.meta.url),
    'WRITER_',
    writerConfig,
  );
  expect(documented).toEqual(known);
});
