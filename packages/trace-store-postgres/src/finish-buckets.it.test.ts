import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { bucketsOf } from '@vitrine/traces/buckets-of';
import { DAY, ONE, sum, tenant, TWO } from '@vitrine/traces/testing/contract-store';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { DAY_MS, HOUR_MS } from '@vitrine/traces/time-buckets';
import { GROUPS, type BucketMeasures, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { addSums } from './add-sums.ts';
import { openPostgresTraceStore, type PostgresTraceStore } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';
import { finishBuckets, readHoursToPack } from './finish-buckets.ts';
import { removeTraces } from './remove-traces.ts';

const QUERIES: readonly MeasureQuery[] = [
  {},
  { groupBy: 'model' },
  { groupBy: 'route', bucket: 'week' },
  { groupBy: 'model', bucket: 'hour' },
  { groupBy: 'provider', bucket: 'day', parts: ['tokens', 'cost'] },
  { model: 'm1', from: DAY + HOUR_MS, to: DAY + DAY_MS + 5 * HOUR_MS },
  { groupBy: 'key' },
  { groupBy: 'key', bucket: 'week' },
  { groupBy: 'api_key_hash', bucket: 'hour', from: DAY + HOUR_MS / 2 },
  { groupBy: 'model', bucket: 'hour', tenant: tenant(ONE) },
  { tenant: tenant(TWO), to: DAY + DAY_MS + 5 * HOUR_MS },
  { groupBy: 'provider', bucket: 'day', tenant: tenant(TWO) },
  { groupBy: 'route', bucket: 'hour', tenant: tenant(ONE) },
];

let opened: AsyncDisposableStack;
let pool: PostgresPool;
let writerPool: PostgresPool;
let store: PostgresTraceStore;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  const { dsn } = opened.use(await templateDatabase());
  pool = opened.use(new PostgresPool({ dsn, applicationName: 'test' }));
  writerPool = opened.use(new PostgresPool({ dsn, applicationName: 'test writer' }));
  store = opened.use(openPostgresTraceStore({ dsn, applicationName: 'test' }));
});
afterEach(async () => opened.disposeAsync());

const tracesFrom = (at: number) =>
  Array.from({ length: 60 }, (_, n) => {
    const fields = { scope: n % 2 === 0 ? ONE : TWO, model: `m${n % 3}`, latency_ms: n * 7, response_status: 200 + n * 5 };
    return plainTrace(at + n * HOUR_MS, fields);
  });
const write = (records: ReturnType<typeof tracesFrom>) =>
  new PostgresTraceWriter(writerPool).write({ count: records.length, records: () => records });
const measures = async () => {
  const results = [];
  for (const query of QUERIES) {
    const result = await store.measure(query);
    results.push(result);
    if (query.bucket === undefined) continue;
    const buckets: BucketMeasures[] = [];
    await store.eachBucket({ ...query, parts: ['tokens', 'cost'] }, async (bucket) => void buckets.push(bucket));
    expect(buckets).toEqual([...bucketsOf(result)]);
  }
  return results;
};
const rowsOfAll = async (table: string): Promise<number | undefined> =>
  (await pool.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE org_id = '*' AND workspace_id = '*'`))[0]?.n;

test('sums of all tenants are those of their rows, before and after they are added up, and when traces come later', async () => {
  await write(tracesFrom(DAY));
  const before = await measures();
  expect(await readHoursToPack(pool)).toBe(60);
  await finishBuckets(pool);
  expect(await readHoursToPack(pool)).toBe(0);
  expect(await rowsOfAll('trace_sums_by_model_hour')).toBe(60);
  expect(await rowsOfAll('trace_sums_by_model_day')).toBe(10);
  expect(await measures()).toEqual(before);
  await write(tracesFrom(DAY + 1));
  const later = await measures();
  expect(later.map(sum)).toEqual(before.map((result) => 2 * sum(result)));
  await finishBuckets(pool);
  expect(await measures()).toEqual(later);
  expect(await rowsOfAll('trace_sums_by_model_hour')).toBe(60);
});

test('once added up, only packed rows are read, and for a filter those of all tenants', async () => {
  await write(tracesFrom(DAY));
  await finishBuckets(pool);
  for (const unit of ['hour', 'day']) {
    await pool.execute(`DELETE FROM trace_sums_by_model_${unit} WHERE org_id <> '*'`);
    await pool.execute(`DELETE FROM trace_sums_by_key_${unit}`);
  }
  expect(sum(await store.measure({ model: 'm1', groupBy: 'provider' }))).toBe(20);
  await pool.execute('DELETE FROM trace_sums_by_model_hour');
  await pool.execute('DELETE FROM trace_sums_by_model_day');
  for (const groupBy of [undefined, ...GROUPS]) {
    expect(sum(await store.measure({ groupBy }))).toBe(60);
    expect(sum(await store.measure({ groupBy, bucket: 'hour' }))).toBe(60);
  }
  for (const groupBy of [undefined, 'provider', 'model', 'route', 'key'] as const)
    expect(sum(await store.measure({ groupBy, tenant: tenant(ONE) }))).toBe(30);
});

test('what a version without packed providers of tenants has packed is read row by row, and packed again', async () => {
  await write(tracesFrom(DAY));
  await finishBuckets(pool);
  const before = await measures();
  for (const unit of ['hour', 'day']) {
    await pool.execute(`DELETE FROM trace_sums_packed_${unit} WHERE grouped_by = 'provider' AND org_id <> '*'`);
    await pool.execute(`UPDATE trace_hours SET ${unit}_is_packed_by_provider = false`);
  }
  expect(await measures()).toEqual(before);
  expect(await readHoursToPack(pool)).toBe(60);
  await finishBuckets(pool);
  expect(await readHoursToPack(pool)).toBe(0);
  await pool.execute('TRUNCATE trace_sums_by_model_hour, trace_sums_by_model_day');
  expect(sum(await store.measure({ groupBy: 'provider', tenant: tenant(ONE) }))).toBe(30);
});

test('groups beyond those of a row are in further rows', async () => {
  const records = Array.from({ length: 2_500 }, (_, n) => plainTrace(DAY, { model: `m${n}`, latency_ms: n }));
  await write(records);
  const before = await store.measure({ groupBy: 'model' });
  await finishBuckets(pool);
  expect(
    await pool.query("SELECT chunk FROM trace_sums_packed_day WHERE grouped_by = 'model' AND org_id = '*' ORDER BY 1"),
  ).toEqual([0, 1, 2].map((chunk) => ({ chunk })));
  await pool.execute('TRUNCATE trace_sums_by_model_day');
  expect(await store.measure({ groupBy: 'model' })).toEqual(before);
  const buckets: BucketMeasures[] = [];
  await store.eachBucket({ groupBy: 'model', bucket: 'week' }, async (bucket) => void buckets.push(bucket));
  expect(buckets.map(({ groups }) => groups)).toEqual([before.map(({ group }) => group)]);
});

test('hours and days that are not over, and traces of the future, are not added up', async () => {
  const now = Date.now();
  await write(tracesFrom(now));
  await finishBuckets(pool);
  expect(await rowsOfAll('trace_sums_by_model_hour')).toBe(0);
  expect(sum(await store.measure({}))).toBe(60);
});

test('a writer that commits while its hours are added up is in the sums', async () => {
  await write(tracesFrom(DAY));
  let summing: Promise<void> | undefined;
  await writerPool.transaction(async (transaction) => {
    await addSums(transaction, tracesFrom(DAY + 1));
    summing = finishBuckets(pool);
    const isWaiting = async () =>
      (await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'FOR UPDATE'")).length > 0;
    await waitUntil(isWaiting, { what: 'the lock of an hour' });
  });
  await summing;
  expect(await rowsOfAll('trace_sums_by_model_hour')).toBe(60);
  expect(sum(await store.measure({}))).toBe(120);
  expect(sum(await store.measure({ bucket: 'hour' }))).toBe(120);
});

test('packed rows go with the sums that they are of', async () => {
  await write(tracesFrom(DAY));
  await finishBuckets(pool);
  await removeTraces(pool, DAY, DAY + DAY_MS);
  for (const unit of ['hour', 'day']) {
    const oldest = await pool.query(`SELECT min(bucket_start) AS at FROM trace_sums_packed_${unit}`);
    expect(oldest).toEqual([{ at: DAY + DAY_MS }]);
  }
});
