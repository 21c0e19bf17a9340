import type { DatabaseSync } from 'node:sqlite';
import type { Removed } from '@vitrine/telemetry/retention-log';

/** Removes the rows of a table whose `column`, times `unitMs`, is before a moment, and returns what they were: nothing or one entry. */
export function removeRows(
  database: DatabaseSync,
  { table, column, unitMs = 1 }: { readonly table: string; readonly column: string; readonly unitMs?: number },
  beforeMs: number,
): Removed[] {
  const before = Math.ceil(beforeMs / unitMs);
  const old = `SELECT count(*) AS count, min(${column}) AS oldest, max(${column}) AS newest FROM ${table} WHERE ${column} < ?`;
  const { count = 0, oldest, newest } = database.prepare(old).get(before) ?? {};
  if (Number(count) === 0) return [];
  database.prepare(`DELETE FROM ${table} WHERE ${column} < ?`).run(before);
  return [{ what: table, count: Number(count), oldest: Number(oldest) * unitMs, newest: Number(newest) * unitMs }];
}
