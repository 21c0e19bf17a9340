import type { RetentionLoop } from '@vitrine/postgres/advance-retention';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Removed } from '@vitrine/telemetry/retention-log';

/** Number of partitions created ahead of their day. */
const DAYS_AHEAD = 3;
/** Rows per statement, so that none keeps its locks for long. */
const ROWS_AT_ONCE = 10_000;

/** Tables of sums, and the column of their age. */
const OLD_ROWS = [
  ['trace_sums_by_key_hour', 'bucket_start'],
  ['trace_sums_by_key_day', 'bucket_start'],
  ['trace_sums_by_model_hour', 'bucket_start'],
  ['trace_sums_by_model_day', 'bucket_start'],
  ['trace_hours', 'hour'],
  ['day_usage', 'day'],
] as const;

export const TRACE_RETENTION: RetentionLoop = {
  name: 'traces',
  newest: `SELECT max(day)::timestamp AT TIME ZONE 'UTC' AS newest FROM day_usage`,
};

/** Drops some of the partitions whose traces were all created before `createdBeforeMs`, and equally old rows of the default partition, and returns
 *  both. If there were none, removes and returns sums of days before that of `rollupsBeforeMs`, and creates the partitions of the days ahead. */
export async function removeTraces(pool: PostgresPool, createdBeforeMs: number, rollupsBeforeMs: number): Promise<Removed[]> {
  const createdBefore = new Date(createdBeforeMs);
  const removed = await pool.transaction(async (transaction) => {
    const traces = await transaction.query<Removed>('SELECT what, removed AS count, oldest, newest FROM remove_old_traces($1)', [
      createdBefore,
    ]);
    await transaction.execute(
      `UPDATE trace_retention SET removed_before = date_trunc('day', $1::timestamptz, 'UTC') WHERE removed_before < date_trunc('day', $1, 'UTC')`,
      [createdBefore],
    );
    return traces;
  });
  if (removed.length > 0) return removed;
  await pool.query('SELECT make_trace_partitions($1)', [DAYS_AHEAD]);
  const day = new Date(rollupsBeforeMs).toISOString().slice(0, 10);
  const tables = [
    ['background_responses', 'created_at', createdBefore],
    ...OLD_ROWS.map(([table, column]) => [table, column, column === 'day' ? day : `${day}T00:00:00Z`] as const),
  ] as const;
  for (const [table, column, before] of tables) removed.push(...(await removeRows(pool, table, column, before)));
  return removed;
}

async function removeRows(pool: PostgresPool, table: string, column: string, before: Date | string): Promise<Removed[]> {
  const some = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${column} < $1 LIMIT ${ROWS_AT_ONCE}))`;
  const time = column === 'day' ? `day::timestamp AT TIME ZONE 'UTC'` : column;
  const statement = `WITH gone AS (${some} RETURNING ${time} AS at)
    SELECT '${table}' AS what, count(*) AS count, min(at) AS oldest, max(at) AS newest FROM gone`;
  const removed: Removed[] = [];
  for (;;) {
    const [batch] = await pool.query<Removed>(statement, [before]);
    if (batch === undefined || batch.count === 0) return removed;
    removed.push(batch);
    if (batch.count < ROWS_AT_ONCE) return removed;
  }
}
