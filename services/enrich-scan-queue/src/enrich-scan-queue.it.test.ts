import { expect, test } from '@jest/globals';
import { endureSilence } from '@vitrine/postgres/testing/endure-silence';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { createLogger } from '@vitrine/telemetry/logger';
import { getPromptly } from '@vitrine/testkit/get-promptly';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startScanner } from './app.ts';
import { readScanConfig } from './config.ts';
import { commitFirst, describeAsDemo, testCapture } from './testing/test-capture.ts';

const SLOW_MS = 120_000;
/** Nothing listens there. */
const NO_BROKER = '127.0.0.1:9';
const STEPS = {
  scanStorefront: async (domain: string) => testCapture(domain),
  describe: describeAsDemo,
  commit: commitFirst,
};

test('it starts before database and broker, is live, becomes ready with the database, reports what it waits for, and stops', async () => {
  await using database = await templateDatabase();
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  const log: string[] = [];
  const config = readScanConfig(undefined, {
    SCAN_STORAGE_DSN: proxy.dsn.reveal(),
    SCAN_QUEUE_BROKERS: NO_BROKER,
    SCAN_SERVER_HOST: '127.0.0.1',
    SCAN_SERVER_PORT: '0',
  });
  await using scanner = await startScanner(config, createLogger('test', 'info', { write: (line) => log.push(line) }), STEPS);
  const get = async (path: string) => {
    const response = await fetch(`${scanner.url}${path}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  expect(await get('/readyz')).toEqual({ status: 503, body: { status: 'not_ready', reasons: ['database_not_reached'] } });
  expect(await get('/livez')).toEqual({ status: 200, body: { status: 'live' } });
  expect((await get('/api/health')).body).toMatchObject({
    status: 'degraded',
    reasons: ['database_unavailable', 'broker_unavailable'],
  });
  await proxy.open();
  await waitUntil(async () => (await get('/readyz')).status === 200, { what: 'readiness', timeoutMs: SLOW_MS });
  expect((await get('/api/health')).body).toMatchObject({ reasons: ['broker_unavailable'], scans_in_flight: 0 });
  expect(log.some((line) => line.includes('"msg":"database reached"'))).toBe(true);
});

test('while database and broker accept connections but never answer, it responds at once, names them, and recovers', async () => {
  await using database = await templateDatabase();
  await using proxy = await openTcpProxy(database.dsn);
  await using broker = await openTcpProxy(database.dsn);
  proxy.hang();
  broker.hang();
  const config = readScanConfig(undefined, {
    SCAN_STORAGE_DSN: proxy.dsn.reveal(),
    SCAN_QUEUE_BROKERS: new URL(broker.dsn.reveal()).host,
    SCAN_SERVER_HOST: '127.0.0.1',
    SCAN_SERVER_PORT: '0',
  });
  await using scanner = await startScanner(config, createLogger('test', 'info', { write: () => {} }), STEPS);
  const get = (path: string) => getPromptly(`${scanner.url}${path}`);
  const isReady = async (wanted: number) => (await get('/readyz'))[0] === wanted && (await get('/livez'))[0] === 200;
  const reasons = async () => (await get('/api/health'))[1]['reasons'];
  expect(await isReady(503)).toBe(true);
  expect(await reasons()).toEqual(['database_unavailable', 'broker_unavailable']);
  await proxy.open();
  await waitUntil(() => isReady(200), { what: 'the database', timeoutMs: SLOW_MS });
  expect(await reasons()).toEqual(['broker_unavailable']);
  await endureSilence(scanner.url, proxy);
}, 120_000);
