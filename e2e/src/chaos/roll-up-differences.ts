import type { Queryable } from '@vitrine/postgres/connection';
import { ALL_TENANTS } from '@vitrine/trace-store-postgres/conditions';

// Every sum that trace-writers keep, and the query of traces that it must equal.

const SUMS = `count(*), count(*) FILTER (WHERE response_status BETWEEN 400 AND 499), count(*) FILTER (WHERE response_status >= 500),
  count(*) FILTER (WHERE time_to_first_token_us > 0), sum(input_tokens), sum(output_tokens), sum(total_tokens), sum(estimated_cost_usd),
  sum(latency_ms), min(latency_ms), max(latency_ms), sum(time_to_first_token_us), max("timestamp"), count(*)`;
const KEPT_SUMS = `requests, errors_4xx, errors_5xx, streams, input_tokens, output_tokens, total_tokens, cost_usd, latency_ms, latency_ms_min,
  latency_ms_max, first_token_us, last_active_at, (SELECT sum(latencies[at][2]) FROM generate_subscripts(latencies, 1) AS at)`;
const BY_KEY = "org_id, workspace_id, gateway_key_id, coalesce(encode(api_key_hash, 'hex'), ''), provider, model";
const KEPT_KEY = 'org_id, workspace_id, gateway_key_id, api_key_hash, provider, model';
const BY_MODEL = 'org_id, workspace_id, provider, model';

const startOf = (unit: 'hour' | 'day') => `date_trunc('${unit}', "timestamp", 'UTC')`;
const byKey = (unit: 'hour' | 'day') => {
  const key = `${startOf(unit)}, ${BY_KEY}`;
  return `SELECT ${key}, ${SUMS} FROM traces GROUP BY ${key}`;
};
/** Of each tenant, and of all. */
const byModel = (unit: 'hour' | 'day') => `SELECT ${startOf(unit)} AS bucket_start, coalesce(org_id, '${ALL_TENANTS.org_id}'),
    coalesce(workspace_id, '${ALL_TENANTS.workspace_id}'), provider, model, ${SUMS}
  FROM traces GROUP BY GROUPING SETS ((1, org_id, workspace_id, provider, model), (1, provider, model))`;
const kept = (table: string, by: string) => `SELECT bucket_start, ${by}, ${KEPT_SUMS} FROM ${table}`;

const ROLL_UPS: Readonly<Record<string, { readonly expected: string; readonly actual: string }>> = {
  trace_sums_by_key_hour: { expected: byKey('hour'), actual: kept('trace_sums_by_key_hour', KEPT_KEY) },
  trace_sums_by_key_day: { expected: byKey('day'), actual: kept('trace_sums_by_key_day', KEPT_KEY) },
  trace_sums_by_model_hour: { expected: byModel('hour'), actual: kept('trace_sums_by_model_hour', BY_MODEL) },
  trace_sums_by_model_day: { expected: byModel('day'), actual: kept('trace_sums_by_model_day', BY_MODEL) },
  trace_hours: {
    expected: `SELECT date_trunc('hour', "timestamp", 'UTC'), min(created_at), max(created_at) FROM traces GROUP BY 1`,
    actual: 'SELECT hour, first_created_at, last_created_at FROM trace_hours',
  },
  day_usage: {
    expected: `SELECT (created_at AT TIME ZONE 'UTC')::date, org_id, workspace_id, gateway_key_id, count(*), sum(total_tokens),
      sum(estimated_cost_usd) FROM traces GROUP BY 1, 2, 3, 4`,
    actual: 'SELECT day, org_id, workspace_id, gateway_key_id, requests, total_tokens, cost_usd FROM day_usage',
  },
};

/** For each table of sums, how many rows are missing, too many or wrong; a wrong row counts twice, with its actual and its expected value. */
export async function rollUpDifferences(database: Queryable): Promise<ReadonlyMap<string, number>> {
  const differences = new Map<string, number>();
  for (const [table, { expected, actual }] of Object.entries(ROLL_UPS)) {
    const rows = await database.query<{ readonly rows: number }>(
      `WITH expected AS (${expected}), actual AS (${actual})
       SELECT count(*) AS rows FROM ((TABLE expected EXCEPT ALL TABLE actual) UNION ALL (TABLE actual EXCEPT ALL TABLE expected)) AS d`,
    );
    differences.set(table, rows[0]?.rows ?? 0);
  }
  return differences;
}
