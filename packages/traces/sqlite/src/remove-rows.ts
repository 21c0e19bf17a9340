import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Removed } from '@vitrine/telemetry/retention-log';

interface OldRows {
  readonly table: string;
  /** Creation time of a row: milliseconds since the epoch, or a date if `isDate`. */
  readonly column: string;
  readonly isDate?: boolean;
  /** Only rows with these values. */
  readonly of?: Readonly<Record<string, SQLInputValue>>;
}

/** Removes the rows of a table before a time, and returns at most one entry about them. */
export function removeRows(
  database: DatabaseSync,
  { table, column, isDate = false, of = {} }: OldRows,
  beforeMs: number,
): Removed[] {
  const before = isDate ? new Date(beforeMs).toISOString().slice(0, 10) : beforeMs;
  const where = [...Object.keys(of).map((name) => `${name} = ?`), `${column} < ?`].join(' AND ');
  const values = [...Object.values(of), before];
  const old = `SELECT count(*) AS count, min(${column}) AS oldest, max(${column}) AS newest FROM ${table} WHERE ${where}`;
  const { count = 0, oldest, newest } = database.prepare(old).get(...values) ?? {};
  if (Number(count) === 0) return [];
  database.prepare(`DELETE FROM ${table} WHERE ${where}`).run(...values);
  const timeOf = (value: unknown) => (isDate ? Date.parse(String(value)) : Number(value));
  return [{ what: table, count: Number(count), oldest: timeOf(oldest), newest: timeOf(newest) }];
}
