import { DatabaseSync } from 'node:sqlite';

/** Columns of traces since the first version of `ongoingai/gateway`. */
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

/** The columns of the table of traces; undefined for a database of another program. */
export function oldTraceColumns(database: DatabaseSync): ReadonlySet<string> | undefined {
  const columns = new Set(
    database
      .prepare('PRAGMA table_info(traces)')
      .all()
      .map(({ name }) => String(name)),
  );
  return OLD_COLUMNS.every((column) => columns.has(column)) ? columns : undefined;
}

/** Whether a file contains traces of `ongoingai/gateway`; false when it cannot be read. It is not changed. */
export function isOldTraceFile(path: string): boolean {
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    return oldTraceColumns(database) !== undefined;
  } catch {
    return false;
  }
}

/** The error for such a file where one of ours is needed. */
export function oldTraceFileText(path: string): string {
  return `${path} contains the traces of ongoingai/gateway: configure another file, and import them with gateway import --from ${path}`;
}
