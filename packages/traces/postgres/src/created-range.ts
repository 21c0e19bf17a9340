import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { Conditions, type CreatedRange } from './conditions.ts';

/** The `created_at` of the traces of a range of `timestamp`, both ends inclusive, as writers have kept it for each hour; undefined when there
 *  are none. A trace is made when its exchange ends, which may be hours after it started. */
export async function createdRangeOf(
  pool: PostgresPool,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<CreatedRange | undefined> {
  if (from === undefined && to === undefined) return { from: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };
  const hours = new Conditions()
    .addTime('hour <=', to)
    .addTime('hour >=', from === undefined ? undefined : bucketStartOf(from, 'hour'));
  const [row] = await pool.query<{ first: number | null; last: number | null }>(
    `SELECT min(first_created_at) AS first, max(last_created_at) AS last FROM trace_hours ${hours.where()}`,
    hours.values,
  );
  return row === undefined || row.first === null || row.last === null ? undefined : { from: row.first, before: row.last + 1 };
}
