import { expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';

test.each([
  ['{}', '{}', []],
  ['{}', '{{7,1}}', [[7, 1]]],
  [
    '{{1,2},{300,4}}',
    '{}',
    [
      [1, 2],
      [300, 4],
    ],
  ],
  [
    '{{1,2},{300,4}}',
    '{{0,9},{300,1},{301,5}}',
    [
      [0, 9],
      [1, 2],
      [300, 5],
      [301, 5],
    ],
  ],
])('the histograms %s and %s are %j together', async (one, other, sum) => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  expect(await pool.query('SELECT add_latencies($1, $2) AS sum', [one, other])).toEqual([{ sum }]);
});

test('sums of a trace store are upserted with them, with the rights of a trace writer', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const upsert = `INSERT INTO trace_sums_by_model_hour AS sums VALUES ('2026-01-05T10:00Z', 'o', 'w', 'openai', 'm', 1, 0, 0, 1, 2, 3, 5,
      0.000000000001, 40, 40, 40, 9, '2026-01-05T10:01Z', '{{40,1}}')
    ON CONFLICT (org_id, workspace_id, bucket_start, provider, model) DO UPDATE SET requests = sums.requests + EXCLUDED.requests,
      cost_usd = sums.cost_usd + EXCLUDED.cost_usd, latencies = add_latencies(sums.latencies, EXCLUDED.latencies)`;
  const rows = await pool.transaction(async (transaction) => {
    await transaction.query('SET LOCAL ROLE vitrine_trace_writer');
    for (let i = 0; i < 3; i += 1) await transaction.execute(upsert);
    return transaction.query('SELECT requests, cost_usd, latencies FROM trace_sums_by_model_hour');
  });
  expect(rows).toEqual([{ requests: 3, cost_usd: '0.000000000003', latencies: [[40, 3]] }]);
});
