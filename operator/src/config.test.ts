import { expect, test } from '@jest/globals';
import { documentedKeys } from '@vitrine/testkit/documented-keys';
import { operatorConfig, readOperatorConfig } from './config.ts';

const DSN = 'postgresql://operator:hunter2@db/vitrine';
const NEEDED = { OPERATOR_STORAGE_DSN: DSN, OPERATOR_NAMESPACE: 'vitrine', OPERATOR_AUTH_PEPPER_PATH: '/peppers' };

test('a database, a namespace and a pepper are enough, and secrets are not printed', () => {
  const config = readOperatorConfig(undefined, { ...NEEDED, OPERATOR_WATCH_NAMESPACES: 'team-a, team-b' });
  expect(config).toMatchObject({
    server: { port: 9090 },
    watch_namespaces: ['team-a', 'team-b'],
    lease: { name: 'vitrine-operator' },
    plans: { config_map: 'vitrine-plans' },
    observability: { otel: { service_name: 'svc-operator', prometheus_enabled: true } },
  });
  expect(config.storage.dsn.reveal()).toBe(DSN);
  expect(JSON.stringify(config)).not.toMatch(/hunter/);
});

test.each([
  ['no database', { OPERATOR_STORAGE_DSN: '' }, /storage/],
  ['no namespace', { OPERATOR_NAMESPACE: '' }, /namespace \(OPERATOR_NAMESPACE\)/],
  ['a namespace that can be none', { OPERATOR_NAMESPACE: 'Team A' }, /namespace \(OPERATOR_NAMESPACE\): must be a name/],
  ['no pepper', { OPERATOR_AUTH_PEPPER_PATH: '' }, /auth/],
  ['half a default tenant', { OPERATOR_TENANCY_DEFAULT_ORG: 'acme' }, /tenancy: default_org and default_workspace/],
  ['an unknown key', { OPERATOR_NAMESPACES: 'x' }, /OPERATOR_NAMESPACES: unknown variable; did you mean OPERATOR_NAMESPACE/],
])('refuses %s', (_, variables, message) => {
  expect(() => readOperatorConfig(undefined, { ...NEEDED, ...variables })).toThrow(message);
});

test('its page in docs lists exactly the keys and variables', () => {
  const { known, documented } = documentedKeys(new URL('../../docs/operator.md', import.meta.url), 'OPERATOR_', operatorConfig);
  expect(documented).toEqual(known);
});
