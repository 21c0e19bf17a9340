import { DatabaseSync } from 'node:sqlite';

/** Columns that traces of `ongoingai/gateway` have had from its first version on. */
const OLD_COLUMNS = [
  'id',
  'timestamp',
  'created_at',
  'provider',
  'model',
  'request_path',
  'request_headers',
  'response_status',
  'metadata',
];

/** The columns of its table of traces; undefined when the database is none of that gateway's. */
export function oldTraceColumns(database: DatabaseSync): ReadonlySet<string> | undefined {
  const columns = new Set(
    database
      .prepare('PRAGMA table_info(traces)')
      .all()
      .map(({ name }) => String(name)),
  );
  return OLD_COLUMNS.every((column) => columns.has(column)) ? columns : undefined;
}

/** Whether a file holds traces of `ongoingai/gateway`. It is not changed, and what cannot be read is none. */
export function isOldTraceFile(path: string): boolean {
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    return oldTraceColumns(database) !== undefined;
  } catch {
    return false;
  }
}

/** What to say of such a file where one of ours is needed. */
export function oldTraceFileText(path: string): string {
  return `${path} holds the traces of ongoingai/gateway: name another file, and bring them over with gateway import --from ${path}`;
}
