import type { Queryable } from '@vitrine/postgres/connection';

/** How long rows of ended writers are kept. */
const KEPT_DAYS = 7;

const UPSERT = `INSERT INTO writer_statistics
    (writer, started_at, updated_at, traces_written, traces_dropped, dropped_by, last_dropped_at, last_dropped_by)
  VALUES ($1, $2, now(), $3, $4, $5, $6, $7)
  ON CONFLICT (writer) DO UPDATE SET updated_at = excluded.updated_at, traces_written = excluded.traces_written,
    traces_dropped = excluded.traces_dropped, dropped_by = excluded.dropped_by,
    last_dropped_at = excluded.last_dropped_at, last_dropped_by = excluded.last_dropped_by`;

/** The last trace that a writer dropped. */
interface LastDrop {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Operation and error class, such as `write_trace timeout`. */
  readonly kind: string;
}

/** Counts of one writer process since its start. */
interface WriterStatistics {
  /** A name that no other process has. */
  readonly writer: string;
  readonly startedAt: Date;
  readonly written: number;
  /** Dropped traces by operation and error class, such as `write_trace timeout`. */
  readonly droppedBy: Readonly<Record<string, number>>;
  readonly lastDrop: LastDrop | undefined;
}

/** Traces dropped by all writers in the last days. */
export interface WriterDrops {
  /** By operation and error class. */
  readonly counts: Readonly<Record<string, number>>;
  readonly last: LastDrop | undefined;
}

export const NO_WRITER_DROPS: WriterDrops = { counts: {}, last: undefined };

export async function putWriterStatistics(database: Queryable, statistics: WriterStatistics): Promise<void> {
  const { writer, startedAt, written, droppedBy, lastDrop } = statistics;
  const dropped = Object.values(droppedBy).reduce((sum, count) => sum + count, 0);
  const last = lastDrop === undefined ? [null, null] : [new Date(lastDrop.at), lastDrop.kind];
  await database.execute(UPSERT, [writer, startedAt, written, dropped, JSON.stringify(droppedBy), ...last]);
}

/** Removes the rows of writers that ended long ago. */
export async function removeOldStatistics(database: Queryable): Promise<void> {
  await database.execute('DELETE FROM writer_statistics WHERE updated_at < now() - make_interval(days => $1)', [KEPT_DAYS]);
}

export async function readWriterDrops(database: Queryable): Promise<WriterDrops> {
  const sums = await database.query<{ kind: string; count: number }>(
    `SELECT kind, sum(count::bigint)::bigint AS count FROM writer_statistics, jsonb_each_text(dropped_by) AS each (kind, count) GROUP BY kind`,
  );
  const [last] = await database.query<LastDrop>(
    `SELECT last_dropped_at AS at, last_dropped_by AS kind FROM writer_statistics
     WHERE last_dropped_at IS NOT NULL ORDER BY last_dropped_at DESC LIMIT 1`,
  );
  return { counts: Object.fromEntries(sums.map(({ kind, count }) => [kind, count])), last };
}
