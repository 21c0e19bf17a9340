import { expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { PostgresTraceWriter } from '@vitrine/trace-store-postgres/postgres-trace-writer';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { rollUpDifferences } from './roll-up-differences.ts';

const NOON = Date.UTC(2026, 10, 1, 12);
const HOUR_MS = 3_600_000;

const TABLES = [
  'trace_sums_by_key_hour',
  'trace_sums_by_key_day',
  'trace_sums_by_model_hour',
  'trace_sums_by_model_day',
  'trace_hours',
  'day_usage',
];

/** Each changes a sum in one of its columns, or omits a row. */
const DAMAGES: readonly (readonly [table: string, statement: string])[] = [
  ['trace_sums_by_key_hour', 'UPDATE trace_sums_by_key_hour SET requests = requests + 1'],
  ['trace_sums_by_key_hour', "UPDATE trace_sums_by_key_hour SET latencies = latencies || '{{1,1}}'"],
  ['trace_sums_by_key_day', 'UPDATE trace_sums_by_key_day SET cost_usd = cost_usd + 0.000000000001'],
  ['trace_sums_by_model_hour', 'UPDATE trace_sums_by_model_hour SET latency_ms_max = latency_ms_max + 1'],
  ['trace_sums_by_model_hour', "UPDATE trace_sums_by_model_hour SET requests = requests + 1 WHERE org_id = '*'"],
  ['trace_sums_by_model_day', 'DELETE FROM trace_sums_by_model_day'],
  ['trace_sums_by_model_day', "DELETE FROM trace_sums_by_model_day WHERE org_id = '*'"],
  ['trace_hours', "UPDATE trace_hours SET last_created_at = last_created_at - interval '1 ms'"],
  ['day_usage', 'UPDATE day_usage SET total_tokens = total_tokens - 1'],
];

test('sums of a writer equal those of its traces, and each difference is found', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 1 });
  const traces = [0, 1, 30].flatMap((hours) =>
    Array.from({ length: 20 }, (_, at) => plainTrace(NOON + hours * HOUR_MS, { model: `model-${at % 3}` })),
  );
  await new PostgresTraceWriter(pool).write(traces);
  const differing = async () => [...(await rollUpDifferences(pool))].filter(([, rows]) => rows > 0).map(([table]) => table);
  expect(await differing()).toEqual([]);
  for (const [table, statement] of DAMAGES) {
    await pool.execute('BEGIN');
    await pool.execute(statement);
    expect([statement, await differing()]).toEqual([statement, [table]]);
    await pool.execute('ROLLBACK');
  }
  await pool.execute('DELETE FROM traces WHERE created_at = (SELECT max(created_at) FROM traces)');
  expect(await differing()).toEqual(TABLES);
});
