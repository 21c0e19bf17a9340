import type { DatabaseSync } from 'node:sqlite';
import { splitRange, type Span } from '@vitrine/traces/split-range';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import type { Level } from './sum-tables.ts';

/** Milliseconds since the epoch, both ends inclusive. */
export interface CreatedRange {
  readonly first: number;
  readonly last: number;
}

/** The end times of traces that started in a range, both ends inclusive: the part of `traces`, which is ordered by end time, that contains them.
 *  Undefined when none started in the hours of the range. */
export function createdRange(
  database: DatabaseSync,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): CreatedRange | undefined {
  const { days, hours, parts } = splitRange(from, to);
  const whole = parts.map((part) => ({ from: bucketStartOf(part.from, 'hour'), before: part.before }));
  const statement = database.prepare(
    `SELECT min(first_created_at) AS first, max(last_created_at) AS last FROM trace_sums
     WHERE level = ? AND org_id = '' AND workspace_id = '' AND bucket_start >= ? AND bucket_start < ?`,
  );
  const read = (level: Level) => (span: Span) => statement.get(level, ...boundsOf(span)) as unknown as CreatedRange;
  const found = [...days.map(read('all_day')), ...[...hours, ...whole].map(read('all_hour'))].filter(
    ({ first }) => first !== null,
  );
  if (found.length === 0) return undefined;
  return { first: Math.min(...found.map(({ first }) => first)), last: Math.max(...found.map(({ last }) => last)) };
}

/** The ends of a span for SQLite. They may be infinite. */
export function boundsOf({ from, before }: Span): [from: number, before: number] {
  return [bounded(from), bounded(before)];
}

export function bounded(at: number): number {
  return Math.min(Math.max(at, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
