import { expect, test } from '@jest/globals';
import { readGatewayConfig } from '../../config.ts';
import { checkRoutes } from './check.ts';

const check = (env: Readonly<Record<string, string>>) => checkRoutes(readGatewayConfig(undefined, env));

test('reports where requests go', () => {
  expect(check({ SVC_PROVIDERS_OPENAI_UPSTREAM: 'http://127.0.0.1:9000/base' })).toEqual({
    name: 'route_wiring',
    status: 'pass',
    summary: 'requests are sent to the upstreams of the providers',
    details: ['openai: /openai/* -> http://127.0.0.1:9000/base', 'anthropic: /anthropic/* -> https://api.anthropic.com'],
  });
});

test.each([
  ['fail', 'http://127.0.0.1:8080', {}, 'openai would be sent to the gateway itself'],
  ['fail', 'http://localhost:8080/openai', {}, 'openai would be sent to the gateway itself'],
  ['fail', 'http://localhost', { SVC_SERVER_PORT: '80' }, 'openai would be sent to the gateway itself'],
  ['fail', 'http://[::1]:8080', { SVC_SERVER_HOST: '::' }, 'openai would be sent to the gateway itself'],
  ['pass', 'http://127.0.0.1:8080', { SVC_SERVER_PORT: '0' }, 'requests are sent to the upstreams of the providers'],
  ['warn', 'http://10.0.0.7:8080', {}, 'credentials for openai are sent unencrypted: the upstream is http://'],
])('%s for %s %j: %s', (status, upstream, env, summary) => {
  expect(check({ SVC_PROVIDERS_OPENAI_UPSTREAM: upstream, ...(env as Record<string, string>) })).toMatchObject({
    status,
    summary,
  });
});
