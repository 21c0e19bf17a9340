import { expect, test } from '@jest/globals';
import { readGatewayConfig } from './config.ts';

test.each([
  ['a store in memory, of which each thread would have its own', { SVC_STORAGE_PATH: ':memory:' }, 'storage.path'],
  ['a URI as a path', { SVC_STORAGE_PATH: 'file:traces.db?mode=ro' }, 'storage.path'],
  ['one port for the gateway and for the scrape', { SVC_SERVER_PORT: '9464' }, 'observability.otel.prometheus_port'],
])('refuses %s', (_, variables, path) => {
  const text = 'observability: { otel: { prometheus_port: 9464 } }';
  const read = () => readGatewayConfig({ path: 'vitrine.yaml', text }, variables);
  expect(read).toThrow(new RegExp(`has 1 fault\n  ${path.replaceAll('.', '\\.')} `));
});

test('any free port for both is no contradiction', () => {
  const variables = { SVC_SERVER_PORT: '0', SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT: '0' };
  expect(readGatewayConfig(undefined, variables).server.port).toBe(0);
});
