import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { finishBuckets } from './finish-buckets.ts';

/** Partitions that are there before their day begins. */
const DAYS_AHEAD = 3;
/** Rows of one statement, so that none holds its locks for long. */
const ROWS_AT_ONCE = 10_000;

/** Tables of sums, and the column by which they grow old. */
const OLD_ROWS = [
  ['trace_sums_by_key_hour', 'bucket_start'],
  ['trace_sums_by_key_day', 'bucket_start'],
  ['trace_sums_by_model_hour', 'bucket_start'],
  ['trace_sums_by_model_day', 'bucket_start'],
  ['trace_sums_packed_hour', 'bucket_start'],
  ['trace_sums_packed_day', 'bucket_start'],
  ['trace_hours', 'hour'],
  ['day_usage', 'day'],
] as const;

/** Drops some of the partitions whose traces were all made before `createdBeforeMs`, and returns their number with that of rows that no day
 *  had held. When that is 0, sums of days before that of `rollupsBeforeMs` are gone too, the partitions of the days ahead are there, and hours
 *  and days that are over are summed up (`finishBuckets`). */
export async function removeTraces(pool: PostgresPool, createdBeforeMs: number, rollupsBeforeMs: number): Promise<number> {
  const createdBefore = new Date(createdBeforeMs);
  const removed = await pool.transaction(async (transaction) => {
    const [row] = await transaction.query<{ removed: number }>('SELECT drop_trace_partitions($1) AS removed', [createdBefore]);
    await transaction.execute(
      `UPDATE trace_retention SET removed_before = date_trunc('day', $1::timestamptz, 'UTC') WHERE removed_before < date_trunc('day', $1, 'UTC')`,
      [createdBefore],
    );
    return row?.removed ?? 0;
  });
  if (removed > 0) return removed;
  await pool.query('SELECT make_trace_partitions($1)', [DAYS_AHEAD]);
  await removeRows(pool, 'background_responses', 'created_at', createdBefore);
  const day = new Date(rollupsBeforeMs).toISOString().slice(0, 10);
  for (const [table, column] of OLD_ROWS) await removeRows(pool, table, column, column === 'day' ? day : `${day}T00:00:00Z`);
  await finishBuckets(pool);
  return 0;
}

async function removeRows(pool: PostgresPool, table: string, column: string, before: Date | string): Promise<void> {
  const statement = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${column} < $1 LIMIT ${ROWS_AT_ONCE}))`;
  while ((await pool.execute(statement, [before])) === ROWS_AT_ONCE);
}
