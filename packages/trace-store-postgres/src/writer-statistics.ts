import type { Queryable } from '@vitrine/postgres/connection';

/** Rows of writers that have ended are kept for so long. */
const KEPT_DAYS = 7;

const UPSERT = `INSERT INTO writer_statistics (writer, started_at, updated_at, traces_written, traces_dropped, dropped_by)
  VALUES ($1, $2, now(), $3, $4, $5)
  ON CONFLICT (writer) DO UPDATE SET updated_at = excluded.updated_at, traces_written = excluded.traces_written,
    traces_dropped = excluded.traces_dropped, dropped_by = excluded.dropped_by`;

/** What one writer process has done since its start. */
export interface WriterStatistics {
  /** A name that no other process has. */
  readonly writer: string;
  readonly startedAt: Date;
  readonly written: number;
  /** Dropped traces by operation and error class, such as `write_trace timeout`. */
  readonly droppedBy: Readonly<Record<string, number>>;
}

export async function putWriterStatistics(database: Queryable, statistics: WriterStatistics): Promise<void> {
  const { writer, startedAt, written, droppedBy } = statistics;
  const dropped = Object.values(droppedBy).reduce((sum, count) => sum + count, 0);
  await database.execute(UPSERT, [writer, startedAt, written, dropped, JSON.stringify(droppedBy)]);
}

/** Removes the rows of writers that ended long ago. */
export async function removeOldStatistics(database: Queryable): Promise<void> {
  await database.execute('DELETE FROM writer_statistics WHERE updated_at < now() - make_interval(days => $1)', [KEPT_DAYS]);
}

/** What all writers have dropped, by operation and error class. */
export async function readDropped(database: Queryable): Promise<Record<string, number>> {
  const sums = await database.query<{ kind: string; count: number }>(
    `SELECT kind, sum(count::bigint)::bigint AS count FROM writer_statistics, jsonb_each_text(dropped_by) AS each (kind, count) GROUP BY kind`,
  );
  return Object.fromEntries(sums.map(({ kind, count }) => [kind, count]));
}
