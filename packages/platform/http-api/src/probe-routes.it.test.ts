import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@vitrine/telemetry/logger';
import { createApiApp } from './api-app.ts';
import { probeRoutes, Readiness } from './probe-routes.ts';
import { serveApi, type ApiServer } from './server/api-server.ts';

let isLoading: boolean;
let stalls: string[];
let readiness: Readiness<'keys_not_loaded'>;
let api: ApiServer;

beforeEach(async () => {
  [isLoading, stalls] = [false, []];
  readiness = new Readiness({ keys_not_loaded: () => isLoading });
  const logger = createLogger('t', 'info', { write: () => {} });
  const app = createApiApp([], {
    logger,
    description: { title: 'T', version: '1', summary: 'S.', correlationHeader: 'X-Correlation-ID' },
    authorize: () => undefined,
    rawRoutes: probeRoutes({ readiness, stalledBy: () => stalls }),
  });
  const at = { host: '127.0.0.1', port: 0, hostKey: 'host', portKey: 'port' };
  api = await serveApi(app, { ...at, maxConnections: 10, correlationHeader: 'X-Correlation-ID', logger });
});
afterEach(async () => api[Symbol.asyncDispose]());

async function probe(path: string, method = 'GET'): Promise<[status: number, body: unknown]> {
  const response = await fetch(api.url + path, { method });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text)];
}

test('a process is ready without conditions, and lists the active ones', async () => {
  expect(await probe('/readyz')).toEqual([200, { status: 'ready' }]);
  isLoading = true;
  expect(await probe('/readyz')).toEqual([503, { status: 'not_ready', reasons: ['keys_not_loaded'] }]);
  readiness.shutDown();
  expect(await probe('/readyz')).toEqual([503, { status: 'not_ready', reasons: ['keys_not_loaded', 'shutting_down'] }]);
  expect(await probe('/livez')).toEqual([200, { status: 'live' }]);
});

test('a process without progress is not live, and its readiness does not change', async () => {
  expect(await probe('/livez')).toEqual([200, { status: 'live' }]);
  stalls = ['due jobs: no progress for 121 s'];
  expect(await probe('/livez')).toEqual([503, { status: 'not_live', reasons: stalls }]);
  expect(await probe('/readyz')).toEqual([200, { status: 'ready' }]);
});

test('probes respond to HEAD without a body, and reject other methods', async () => {
  expect(await probe('/livez', 'HEAD')).toEqual([200, '']);
  expect(await probe('/readyz', 'POST')).toEqual([405, { error: 'method not allowed' }]);
});
