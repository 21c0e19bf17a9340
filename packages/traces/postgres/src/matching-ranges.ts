import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { TraceQuery } from '@vitrine/traces/trace-store';
import { ALL_TENANTS, Conditions, type CreatedRange } from './conditions.ts';

/** Whether a list may read many rows for few results: filters may contradict each other (an index on one of them finds all its traces), and with
 *  `ORDER BY id LIMIT` the server reads whole partitions for numbers of tokens that do not occur. */
export function needsMatchingRanges(query: TraceQuery): boolean {
  const { tenant, provider, model, api_key_hash: hash } = query;
  return hasTokens(query) || provider !== undefined || [tenant, model, hash].filter((filter) => filter !== undefined).length > 1;
}

/** The parts of a range of `created_at` that may contain traces of the query, newest first. The sums of days show which days have such traces, and
 *  the index on tokens whether a day has matching numbers. Only the primary key of the sums is read, 40,000 entries for a month of 300 keys. */
export async function readMatchingRanges(pool: PostgresPool, query: TraceQuery, within: CreatedRange): Promise<CreatedRange[]> {
  const conditions = new Conditions();
  const hours = conditions.nested().addTime('last_created_at >=', within.from).addTime('first_created_at <', within.before);
  // Sums outlive their traces. A subquery with a LIMIT runs per day, while EXISTS may become a join with all traces.
  const rows = await pool.query<{ first: number; last: number }>(
    `WITH days AS (
       SELECT date_trunc('day', hour, 'UTC') AS day, min(first_created_at) AS first, max(last_created_at) AS last
       FROM trace_hours JOIN trace_retention ON last_created_at >= removed_before ${hours.where()} GROUP BY 1
     )
     SELECT first, last FROM days WHERE day IN (${matchingDays(query, conditions.nested())})
     ${hasTokens(query) ? `AND (${traceWithTokens(query, conditions.nested())})` : ''} ORDER BY last DESC`,
    conditions.values,
  );
  return joined(rows).map(({ from, before }) => ({
    from: Math.max(from, within.from),
    before: Math.min(before, within.before),
  }));
}

function hasTokens({ min_tokens: min, max_tokens: max }: TraceQuery): boolean {
  return min !== undefined || max !== undefined;
}

/** Sums are by the model that served, lists by the requested one, so the model selects no days. */
function matchingDays({ tenant, provider, api_key_hash: hash }: TraceQuery, conditions: Conditions): string {
  if ([tenant, provider, hash].every((filter) => filter === undefined)) return 'SELECT day FROM days';
  const rowsOf = hash === undefined ? (tenant ?? ALL_TENANTS) : tenant;
  conditions.addSql('bucket_start >= (SELECT min(day) FROM days)').add('org_id =', rowsOf?.org_id);
  conditions.add('workspace_id =', rowsOf?.workspace_id).add('provider =', provider).add('api_key_hash =', hash);
  return `SELECT bucket_start FROM trace_sums_by_${hash === undefined ? 'model' : 'key'}_day ${conditions.where()}`;
}

function traceWithTokens({ min_tokens: min, max_tokens: max }: TraceQuery, conditions: Conditions): string {
  const where = conditions.add('total_tokens >=', min).add('total_tokens <=', max).where();
  // With this order the index returns one row of the partition first. Without it the server reads all matches and all ids. Uses whole
  // partitions, because otherwise the few traces that end after midnight are searched among all of the next day: 250 ms for a month.
  const order = min === undefined ? 'total_tokens' : 'total_tokens DESC';
  return `SELECT true FROM traces ${where} AND created_at >= date_trunc('day', days.first, 'UTC')
    AND created_at < date_trunc('day', days.last, 'UTC') + interval '1 day' ORDER BY ${order} LIMIT 1`;
}

/** Joins consecutive days into one range, because with little traffic each day would be a statement. */
function joined(days: readonly { readonly first: number; readonly last: number }[]): CreatedRange[] {
  const ranges: { from: number; before: number }[] = [];
  for (const { first, last } of days) {
    const newer = ranges.at(-1);
    if (newer !== undefined && last + DAY_MS >= newer.from) newer.from = Math.min(newer.from, first);
    else ranges.push({ from: first, before: last + 1 });
  }
  return ranges;
}
