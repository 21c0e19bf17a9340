import type { Queryable } from '@vitrine/postgres/connection';

/** More than retention creates. */
const MAX_DAYS = 10;

/** How many consecutive days after today have a partition for their traces. 0 means that traces after the next midnight are stored in the default
 *  partition, from which they have to be moved. */
export async function readPartitionsAhead(database: Queryable): Promise<number> {
  const [row] = await database.query<{ days: number }>(
    `SELECT coalesce(min(n) - 1, $1)::int AS days FROM generate_series(1, $1::int) AS n
     WHERE to_regclass('public.traces_' || to_char((now() AT TIME ZONE 'UTC')::date + n, 'YYYYMMDD')) IS NULL`,
    [MAX_DAYS],
  );
  return row?.days ?? 0;
}
