import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { DAY, ONE, sum, TWO } from '@vitrine/traces/testing/contract-store';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { DAY_MS, HOUR_MS } from '@vitrine/traces/time-buckets';
import type { MeasureQuery } from '@vitrine/traces/trace-measures';
import { setTimeout as wait } from 'node:timers/promises';
import { addSums } from './add-sums.ts';
import { openPostgresTraceStore, type PostgresTraceStore } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';
import { sumAllTenants } from './sum-all-tenants.ts';

const QUERIES: readonly MeasureQuery[] = [
  {},
  { groupBy: 'model' },
  { groupBy: 'route', bucket: 'week' },
  { groupBy: 'model', bucket: 'hour' },
  { groupBy: 'provider', bucket: 'day', parts: ['tokens', 'cost'] },
  { model: 'm1', from: DAY + HOUR_MS, to: DAY + DAY_MS + 5 * HOUR_MS },
  { groupBy: 'key' },
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
  for (const query of QUERIES) results.push(await store.measure(query));
  return results;
};
const rowsOfAll = async (table: string): Promise<number | undefined> =>
  (await pool.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE org_id = '*' AND workspace_id = '*'`))[0]?.n;

test('sums of all tenants are those of their rows, before and after they are added up, and when traces come later', async () => {
  await write(tracesFrom(DAY));
  const before = await measures();
  await sumAllTenants(pool);
  expect(await rowsOfAll('trace_sums_by_model_hour')).toBe(60);
  expect(await rowsOfAll('trace_sums_by_model_day')).toBe(10);
  expect(await measures()).toEqual(before);
  await write(tracesFrom(DAY + 1));
  const later = await measures();
  expect(later.map(sum)).toEqual(before.map((result) => 2 * sum(result)));
  await sumAllTenants(pool);
  expect(await measures()).toEqual(later);
  expect(await rowsOfAll('trace_sums_by_model_hour')).toBe(60);
});

test('once added up, only the rows of all tenants are read', async () => {
  await write(tracesFrom(DAY));
  await sumAllTenants(pool);
  await pool.execute("DELETE FROM trace_sums_by_model_hour WHERE org_id <> '*'");
  await pool.execute("DELETE FROM trace_sums_by_model_day WHERE org_id <> '*'");
  expect(sum(await store.measure({ groupBy: 'model' }))).toBe(60);
  expect(sum(await store.measure({ groupBy: 'model', bucket: 'hour' }))).toBe(60);
});

test('hours and days that are not over, and traces of the future, are not added up', async () => {
  const now = Date.now();
  await write(tracesFrom(now));
  await sumAllTenants(pool);
  expect(await rowsOfAll('trace_sums_by_model_hour')).toBe(0);
  expect(sum(await store.measure({}))).toBe(60);
});

test('a writer that commits while its hours are added up is in the sums', async () => {
  await write(tracesFrom(DAY));
  let summing: Promise<void> | undefined;
  await writerPool.transaction(async (transaction) => {
    await addSums(transaction, tracesFrom(DAY + 1));
    summing = sumAllTenants(pool);
    const isWaiting = async () =>
      (await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'FOR UPDATE'")).length > 0;
    for (const deadline = Date.now() + 5_000; !(await isWaiting()) && Date.now() < deadline;) await wait(5);
    expect(await isWaiting()).toBe(true);
  });
  await summing;
  expect(await rowsOfAll('trace_sums_by_model_hour')).toBe(60);
  expect(sum(await store.measure({}))).toBe(120);
  expect(sum(await store.measure({ bucket: 'hour' }))).toBe(120);
});
