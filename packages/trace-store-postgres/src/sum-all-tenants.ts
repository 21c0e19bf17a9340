import type { Transaction } from '@vitrine/postgres/transaction';
import { ALL_TENANTS } from './all-tenants.ts';

/** Adds up the rows of all tenants by model, for hours or days, instead of those that are there. The caller has locked their `trace_hours`. */
export async function sumAllTenants(transaction: Transaction, unit: 'hour' | 'day', buckets: readonly Date[]): Promise<void> {
  const { org_id: org, workspace_id: workspace } = ALL_TENANTS;
  const table = `trace_sums_by_model_${unit}`;
  await transaction.execute(`DELETE FROM ${table} WHERE org_id = $2 AND workspace_id = $3 AND bucket_start = ANY ($1)`, [
    buckets,
    org,
    workspace,
  ]);
  await transaction.execute(insertSums(table), [buckets, org, workspace]);
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
