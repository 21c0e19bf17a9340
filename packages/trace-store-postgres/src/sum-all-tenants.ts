import { tryLockByName } from '@vitrine/postgres/advisory-lock';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { ALL_TENANTS, unsummed } from './all-tenants.ts';

/** Hours and days of one transaction. Traces that come late wait for it. */
const AT_ONCE = { hour: 8, day: 1 } as const;
/** How long after its end an hour is expected to get traces still. One that comes later costs another sum of its hour and day. */
const DELAY = '5 minutes';

/** Sums up hours and days that are over, for queries of all tenants, and repeats that where traces came later. Any replica may run it. */
export async function sumAllTenants(pool: PostgresPool): Promise<void> {
  for (const unit of ['hour', 'day'] as const)
    while ((await pool.transaction((transaction) => sumBuckets(transaction, unit))) === AT_ONCE[unit]);
}

/** A writer marks an hour as not summed in the transaction of its traces, after their sums. So rows of `trace_hours` are locked before sums are
 *  read: whoever has added to these has committed, or marks the hour afterwards. */
async function sumBuckets(transaction: Transaction, unit: 'hour' | 'day'): Promise<number> {
  if (!(await tryLockByName(transaction, 'vitrine sums of all tenants'))) return 0;
  const bucketsOver = await transaction.query<{ bucket: number }>(
    `SELECT DISTINCT bucket FROM (${unsummed(unit)}) AS u (bucket)
     WHERE bucket < date_trunc('${unit}', now() - interval '${DELAY}', 'UTC') ORDER BY bucket LIMIT ${AT_ONCE[unit]}`,
  );
  const buckets = bucketsOver.map(({ bucket }) => new Date(bucket));
  if (buckets.length === 0) return 0;
  const hours = await transaction.query<{ hour: number }>(
    `SELECT hour FROM trace_hours WHERE date_trunc('${unit}', hour, 'UTC') = ANY ($1) ORDER BY hour FOR UPDATE`,
    [buckets],
  );
  const { org_id: org, workspace_id: workspace } = ALL_TENANTS;
  const table = `trace_sums_by_model_${unit}`;
  await transaction.execute(`DELETE FROM ${table} WHERE org_id = $2 AND workspace_id = $3 AND bucket_start = ANY ($1)`, [
    buckets,
    org,
    workspace,
  ]);
  await transaction.execute(insertSums(table), [buckets, org, workspace]);
  await transaction.execute(`UPDATE trace_hours SET ${unit}_is_summed = true WHERE hour = ANY ($1)`, [
    hours.map(({ hour }) => new Date(hour)),
  ]);
  return buckets.length;
}

function insertSums(table: string): string {
  return `WITH counts AS (
      SELECT bucket_start, provider, model, latencies[i][1] AS bucket, sum(latencies[i][2])::integer AS count
      FROM ${table}, generate_subscripts(latencies, 1) AS i WHERE bucket_start = ANY ($1) GROUP BY 1, 2, 3, 4
    ), histograms AS (
      SELECT bucket_start, provider, model, array_agg(ARRAY[bucket, count] ORDER BY bucket) AS latencies FROM counts GROUP BY 1, 2, 3
    ), sums AS (
      SELECT bucket_start, $2, $3, provider, model, sum(requests), sum(errors_4xx), sum(errors_5xx), sum(streams), sum(input_tokens),
        sum(output_tokens), sum(total_tokens), sum(cost_usd), sum(latency_ms), min(latency_ms_min), max(latency_ms_max),
        sum(first_token_us), max(last_active_at)
      FROM ${table} WHERE bucket_start = ANY ($1) GROUP BY bucket_start, provider, model
    )
    INSERT INTO ${table} SELECT sums.*, latencies FROM sums JOIN histograms USING (bucket_start, provider, model)`;
}
