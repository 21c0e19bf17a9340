import { expect, test } from '@jest/globals';
import { documentedKeys } from '@vitrine/testkit/documented-keys';
import { createFetchSettings } from './fetch/fetch-settings.ts';
import { readScanConfig, scanConfig } from './config.ts';

const DSN = 'postgresql://scanner:hunter2@db/vitrine';
const LOOPBACK = 'example.com=127.0.0.1:8000:8001';
const NEEDED = { SCAN_STORAGE_DSN: DSN, SCAN_QUEUE_BROKERS: 'kafka-1:9092, kafka-2:9092' };

test('a database and a broker are enough, and secrets are not printed', () => {
  const config = readScanConfig(undefined, {
    ...NEEDED,
    SCAN_QUEUE_SASL_PASSWORD: 'hunter3',
    SCAN_PUBLIC_API_URL: 'https://a.example',
  });
  expect(config).toMatchObject({
    server: { port: 9090 },
    queue: { brokers: ['kafka-1:9092', 'kafka-2:9092'], group: 'vitrine-enrich-scan-queue' },
    concurrency: 16,
    politeness: 'on',
    public: { api_url: 'https://a.example' },
    observability: { otel: { service_name: 'svc-enrich-scan-queue', prometheus_enabled: true } },
  });
  expect(config.storage.dsn.reveal()).toBe(DSN);
  expect(JSON.stringify(config)).not.toMatch(/hunter/);
});

test('fixture storefronts may be configured outside of production', () => {
  const { fetch } = readScanConfig(undefined, {
    ...NEEDED,
    SCAN_ENVIRONMENT: 'development',
    SCAN_FETCH_LOOPBACK_HOSTS: LOOPBACK,
  });
  expect(createFetchSettings(fetch, '1').loopbackHosts).toEqual({
    'example.com': { address: '127.0.0.1', http_port: 8_000, https_port: 8_001 },
  });
});

test('without a broker the queue driver is the database', () => {
  expect(readScanConfig(undefined, { SCAN_STORAGE_DSN: DSN, SCAN_QUEUE_DRIVER: 'database' }).queue.brokers).toEqual([]);
});

test.each([
  ['no database', { SCAN_STORAGE_DSN: '' }, /storage(?:\.dsn)?/],
  ['no broker', { SCAN_QUEUE_BROKERS: '' }, /queue\.brokers .*must name a broker/],
  ['no scans', { SCAN_CONCURRENCY: '0' }, /concurrency \(SCAN_CONCURRENCY\)/],
  ['a URL of another kind', { SCAN_PUBLIC_API_URL: 'ftp://a.example' }, /public\.api_url \(SCAN_PUBLIC_API_URL\)/],
  ['an unknown key', { SCAN_CONCURENCY: '1' }, /SCAN_CONCURENCY: unknown variable; did you mean SCAN_CONCURRENCY/],
  [
    'fixture storefronts in production',
    { SCAN_FETCH_LOOPBACK_HOSTS: LOOPBACK },
    /fetch\.loopback_hosts \(SCAN_FETCH_LOOPBACK_HOSTS\).*fixture/,
  ],
  [
    'an authority of fixtures in production',
    { SCAN_FETCH_LOOPBACK_CA: 'PEM' },
    /fetch\.loopback_ca \(SCAN_FETCH_LOOPBACK_CA\).*fixture/,
  ],
  ['a URL with a final slash', { SCAN_PUBLIC_API_URL: 'https://a.example/' }, /public\.api_url \(SCAN_PUBLIC_API_URL\)/],
  [
    'a fixture on another machine',
    { SCAN_ENVIRONMENT: 'development', SCAN_FETCH_LOOPBACK_HOSTS: 'example.com=10.0.0.1:80:443' },
    /NAME=127\.0\.0\.1/,
  ],
])('refuses %s', (_, variables, message) => {
  expect(() => readScanConfig(undefined, { ...NEEDED, ...variables })).toThrow(message);
});

test('its page in docs lists exactly the keys and variables', () => {
  const { known, documented } = documentedKeys(
    new URL('../../../docs/enrich-scan-queue.md', import.meta.url),
    'SCAN_',
    scanConfig,
  );
  expect(documented).toEqual(known);
});
