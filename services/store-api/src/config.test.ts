import { publicUrlsOf } from '@vitrine/stores/profile/render-profile';
import { expect, test } from '@jest/globals';
import { documentedKeys } from '@vitrine/testkit/documented-keys';
import { readStoreApiConfig, storeApiConfig } from './config.ts';

const NEEDED = {
  STORE_API_STORAGE_DSN: 'postgresql://store_api:hunter2@db/vitrine',
  STORE_API_AUTH_PEPPERS: `2:${'a'.repeat(32)}, 1:${'hunter3'.repeat(5)}`,
};

test('a database and peppers are enough, and secrets are not printed', () => {
  const config = readStoreApiConfig(undefined, { ...NEEDED, STORE_API_GRAPHQL_SERVICE_TOKEN: 'hunter4'.repeat(5) });
  expect(config).toMatchObject({ server: { host: '0.0.0.0', port: 8081 }, storage: { connections: 20 } });
  expect(config.auth.peppers.map(({ version }) => version)).toEqual([2, 1]);
  expect(JSON.stringify(config)).not.toMatch(/hunter/);
});

test('pages are below the URL of the API unless the console has its own', () => {
  const api_url = 'https://api.example.com';
  const config = readStoreApiConfig(undefined, { ...NEEDED, STORE_API_PUBLIC_API_URL: api_url });
  expect(publicUrlsOf(config.public)).toEqual({ api_url, console_url: api_url, docs_url: `${api_url}/docs` });
});

test.each([
  ['no database', { STORE_API_STORAGE_DSN: '' }, /storage\.dsn \(STORE_API_STORAGE_DSN\): is required/],
  ['no pepper', { STORE_API_AUTH_PEPPERS: '' }, /auth\.peppers/],
  ['a pepper without a version, which is not shown', { STORE_API_AUTH_PEPPERS: 'hunter2' }, /VERSION:SECRET(?!.*hunter)/],
  ['a URL with a final slash', { STORE_API_PUBLIC_API_URL: 'https://api.example.com/' }, /public\.api_url .*final slash/],
  ['a short service token, which is not shown', { STORE_API_GRAPHQL_SERVICE_TOKEN: 'hunter2' }, /at least 32(?!.*hunter)/],
  ['an unknown key', { STORE_API_SERVER_PORTS: '1' }, /STORE_API_SERVER_PORTS: unknown variable/],
])('refuses %s', (_, variables, message) => {
  expect(() => readStoreApiConfig(undefined, { ...NEEDED, ...variables })).toThrow(message);
});

test('its page in docs lists exactly the keys and variables', () => {
  const { known, documented } = documentedKeys(
    new URL('../../../docs/store-api.md', import.meta.url),
    'STORE_API_',
    storeApiConfig,
  );
  expect(documented).toEqual(known);
});
