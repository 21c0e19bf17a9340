import { expect, test } from '@jest/globals';
import { endureSilence } from '@vitrine/postgres/testing/endure-silence';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { getPromptly } from '@vitrine/testkit/get-promptly';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readFileSync } from 'node:fs';
import { startTestWriter } from './testing/start-test-writer.ts';

const SLOW_MS = 30_000;
/** Nothing listens there. */
const NO_BROKER = '127.0.0.1:9';

test('it starts before database and broker, becomes ready with the database, reports what it waits for, and stops in time', async () => {
  await using database = await templateDatabase();
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  const writer = await startTestWriter({ WRITER_STORAGE_DSN: proxy.dsn.reveal(), WRITER_QUEUE_BROKERS: NO_BROKER });
  try {
    const readiness = async () => {
      const response = await fetch(`${writer.url}/readyz`);
      return [response.status, await response.json()];
    };
    expect(await readiness()).toEqual([503, { status: 'not_ready', reasons: ['database_not_reached'] }]);
    const health = async () => (await fetch(`${writer.url}/api/health`)).json();
    expect(await health()).toMatchObject({ status: 'degraded', reasons: ['database_unavailable', 'broker_unavailable'] });
    await proxy.open();
    await waitUntil(async () => (await writer.state()) === 'broker_unavailable', { what: 'the database', timeoutMs: SLOW_MS });
    expect(await readiness()).toEqual([200, { status: 'ready' }]);
    await proxy.close();
    expect(await readiness()).toEqual([200, { status: 'ready' }]);
    expect(await health()).toMatchObject({ status: 'degraded', reasons: ['broker_unavailable'], consumer: 'connecting' });
    const waits = writer.log.filter((line) => line.includes('"msg":"waiting for the database"'));
    expect(waits.every((line) => line.includes('docs/failure-modes.md#database_unavailable'))).toBe(true);
    expect(waits.length).toBeGreaterThan(0);
    expect(writer.log.some((line) => line.includes('"msg":"database reached"'))).toBe(true);
  } finally {
    const startedAt = performance.now();
    await writer[Symbol.asyncDispose]();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  }
});

test('while database and broker accept connections but never answer, it responds at once, names them, and recovers', async () => {
  await using database = await templateDatabase();
  await using proxy = await openTcpProxy(database.dsn);
  await using broker = await openTcpProxy(database.dsn);
  proxy.hang();
  broker.hang();
  const brokers = new URL(broker.dsn.reveal()).host;
  await using writer = await startTestWriter({ WRITER_STORAGE_DSN: proxy.dsn.reveal(), WRITER_QUEUE_BROKERS: brokers });
  const get = (path: string) => getPromptly(`${writer.url}${path}`);
  const isReady = async (wanted: number) => (await get('/readyz'))[0] === wanted && (await get('/livez'))[0] === 200;
  const reasons = async () => (await get('/api/health'))[1]['reasons'];
  expect(await isReady(503)).toBe(true);
  expect(await reasons()).toEqual(['database_unavailable', 'broker_unavailable']);
  await proxy.open();
  await waitUntil(() => isReady(200), { what: 'the database', timeoutMs: SLOW_MS });
  expect(await reasons()).toEqual(['broker_unavailable']);
  await endureSilence(writer.url, proxy);
}, 120_000);

test('every counter exists at 0 from the start', async () => {
  await using database = await templateDatabase();
  await using writer = await startTestWriter({ WRITER_STORAGE_DSN: database.dsn.reveal(), WRITER_QUEUE_BROKERS: NO_BROKER });
  const golden = readFileSync(new URL('../../../deploy/observability/metrics/trace-writer.txt', import.meta.url), 'utf8');
  const counters = [...golden.matchAll(/^(svc_(?:trace|consumer|postgres)_\w+_total)\b/gm)].map(([, name = '']) => name);
  expect(counters.length).toBeGreaterThan(10);
  for (const name of counters) {
    const value = await writer.metric(name);
    expect([name, value]).toEqual([name, name.startsWith('svc_trace') ? 0 : expect.any(Number)]);
  }
  await waitUntil(async () => (await writer.metric('svc_trace_partitions_ahead')) !== undefined, { what: 'partitions ahead' });
});
