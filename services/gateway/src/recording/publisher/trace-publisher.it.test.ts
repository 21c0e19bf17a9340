import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { putWriterStatistics } from '@vitrine/trace-store-postgres/writer-statistics';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

/** Nothing listens there. */
const NO_BROKER = '127.0.0.1:9';

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  database = await templateDatabase();
  folder = await temporaryFolder('spool');
});
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const start = (spool: string, variables: Readonly<Record<string, string>> = {}) =>
  startTestGateway({
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: database.dsn.reveal(),
    SVC_QUEUE_DRIVER: 'kafka',
    SVC_QUEUE_BROKERS: NO_BROKER,
    SVC_QUEUE_SPOOL_PATH: join(folder.path, spool),
    SVC_PROMETHEUS_ENABLED: 'true',
    SVC_OBSERVABILITY_OTEL_PROMETHEUS_PUBLIC: 'true',
    ...variables,
  });

const chat = async (gateway: TestGateway, content = 'Say hello') => {
  const response = await fetch(`${gateway.url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  });
  await response.text();
  return response.status;
};
const metric = async (gateway: TestGateway, name: string) => {
  const families = parseScrape(await (await fetch(`${gateway.url}/metrics`)).text(), 'classic');
  const samples = families.flatMap((family) => family.samples).filter((sample) => sample.name === `svc_trace_${name}`);
  return samples.length === 0 ? undefined : samples.reduce((sum, { value }) => sum + value, 0);
};

test('every connection pool has metrics', async () => {
  const auth = { SVC_AUTH_ENABLED: 'true', SVC_AUTH_PEPPERS: `1:${'p'.repeat(32)}` };
  await using gateway = await start('pools', { ...auth, SVC_LIMITS_COUNTERS: 'shared' });
  const scrape = await (await fetch(`${gateway.url}/metrics`)).text();
  const limits = [...scrape.matchAll(/^svc_postgres_connection_limit\{pool="(\w+)"\} (\d+)/gm)].map(([, pool, value]) => [
    pool,
    value,
  ]);
  expect(Object.fromEntries(limits)).toEqual({
    traces: '10',
    quotas: '2',
    keys: '5',
    limits: '3',
    plans: '2',
    statistics: '1',
  });
});

test('without a broker traces wait on disk, also across a restart, and every metric exists from the start', async () => {
  {
    await using gateway = await start('waiting');
    const zeros = [
      'publish_dropped_total',
      'published_total',
      'publisher_connected',
      'publish_bodies_dropped_total',
      'spool_drained_total',
      'spool_lost_total',
    ];
    expect(await Promise.all(zeros.map((name) => metric(gateway, name)))).toEqual(zeros.map(() => 0));
    const scrape = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(scrape).toMatch(/^svc_postgres_errors_total\{pool="traces",error_class="timeout"\} 0/m);
    // Metrics of writes are recorded by the trace-writer.
    expect(await metric(gateway, 'written_total')).toBeUndefined();
    for (let i = 0; i < 3; i += 1) expect(await chat(gateway)).toBe(200);
    await waitUntil(async () => (await metric(gateway, 'spool_records')) === 3, { what: 'three traces in the spool' });
    expect(await gateway.get('/api/health')).toMatchObject({
      status: 'degraded',
      reasons: ['broker_unavailable'],
      spooled_traces: 3,
      storage_driver: 'postgres',
    });
    expect(gateway.log.some((line) => line.includes('"msg":"spooling records"') && line.includes('next_step'))).toBe(true);
  }
  await using next = await start('waiting');
  await waitUntil(async () => (await metric(next, 'spool_records')) === 3, { what: 'the spool of the process before' });
  expect(next.log.some((line) => line.includes('"msg":"spool contains records of an earlier process"'))).toBe(true);
});

test('traces left in the spool are logged when the gateway stops', async () => {
  const gateway = await start('left');
  await chat(gateway);
  await waitUntil(async () => (await metric(gateway, 'spool_records')) === 1, { what: 'the trace in the spool' });
  await gateway[Symbol.asyncDispose]();
  const [line] = gateway.log.filter((one) => one.includes('"msg":"records left in the spool"'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    level: 'warn',
    records: 1,
    next_step: expect.stringContaining('queue.spool.path'),
  });
});

test('only a full spool drops traces, counted by cause, and no request fails', async () => {
  const variables = { SVC_QUEUE_SPOOL_MAX_BYTES: '1048576', SVC_TRACING_CAPTURE_BODIES: 'true', SVC_QUEUE_BATCH: '1' };
  await using gateway = await start('full', variables);
  const content = 'x'.repeat(400_000);
  for (let i = 0; i < 4; i += 1) expect(await chat(gateway, content)).toBe(200);
  await waitUntil(async () => ((await metric(gateway, 'publish_dropped_total')) ?? 0) > 0, { what: 'a drop' });
  const drop = gateway.log.find((line) => line.includes('"msg":"traces dropped"'));
  expect(drop).toContain('queue.spool.max_bytes');
  const { diagnostics } = (await gateway.get('/api/diagnostics/trace-pipeline')) as { diagnostics: Record<string, unknown> };
  expect(diagnostics).toMatchObject({ write_failures_by_class: { connection: expect.any(Number) }, store_driver: 'postgres' });
  expect(await gateway.get('/api/health')).toMatchObject({ reasons: expect.arrayContaining(['writes_failing']) });
});

test('diagnostics add up the drops of trace-writers and include the last one', async () => {
  await using gateway = await start('drops');
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 1 });
  const [earlier, later] = [Date.now() - 60_000, Date.now() - 1_000];
  const drops = [
    { writer: 'a', droppedBy: { 'write_trace timeout': 2 }, lastDrop: { at: earlier, kind: 'write_trace timeout' } },
    {
      writer: 'b',
      droppedBy: { 'write_batch_fallback constraint': 3 },
      lastDrop: { at: later, kind: 'write_batch_fallback constraint' },
    },
    { writer: 'c', droppedBy: {}, lastDrop: undefined },
  ];
  for (const one of drops) await putWriterStatistics(pool, { startedAt: new Date(), written: 1, ...one });
  expect(await gateway.get('/api/diagnostics/trace-pipeline')).toMatchObject({
    diagnostics: {
      write_dropped_total: 5,
      write_failures_by_class: { timeout: 2, constraint: 3 },
      last_write_drop_at: new Date(later).toISOString(),
      last_write_drop_operation: 'write_batch_fallback',
    },
  });
});

test('no secret of the publishing thread is in log, diagnostics or errors', async () => {
  const password = 'canary-sasl-83d1';
  const ofDatabase = new URL(database.dsn.reveal());
  ofDatabase.searchParams.set('application_name', 'canary-dsn-27c4');
  const variables = {
    SVC_LOG_LEVEL: 'debug',
    SVC_STORAGE_DSN: ofDatabase.href,
    SVC_QUEUE_SASL_MECHANISM: 'plain',
    SVC_QUEUE_SASL_USERNAME: 'gateway',
    SVC_QUEUE_SASL_PASSWORD: password,
  };
  const gateway = await start('secrets', variables);
  await chat(gateway);
  const hasLogged = (message: string) => gateway.log.some((line) => line.includes(`"msg":"${message}"`));
  await waitUntil(() => hasLogged('kafka publisher cannot connect; retrying') && hasLogged('kafkajs'), { what: 'the failure' });
  const shown = [await gateway.get('/api/diagnostics/trace-pipeline'), await gateway.get('/api/health')];
  await gateway[Symbol.asyncDispose]();
  await writeFile(join(folder.path, 'no-folder'), '');
  const error: unknown = await start('no-folder', variables).catch((caught: unknown) => caught);
  const texts = [...gateway.log, JSON.stringify(shown), inspect(error, { depth: 9, showHidden: true })];
  expect(texts.filter((text) => /canary-(?:sasl|dsn)/.test(text))).toEqual([]);
});

test('the gateway does not start with an unusable spool, and names it', async () => {
  await writeFile(join(folder.path, 'file'), '');
  await expect(start('file')).rejects.toMatchObject({ code: 'spool_unusable' });
});
