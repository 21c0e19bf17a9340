import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { bucketStartOf, DAY_MS } from '@vitrine/traces/time-buckets';
import type { TraceQuery } from '@vitrine/traces/trace-store';
import { Conditions, uuidOf, type CreatedRange } from './conditions.ts';

/** Up to this many traces of a window are always read by the index on tokens and ordered by id afterwards, which takes at most a millisecond. */
export const FEW = 500;
/** Up to this many are, if the newest of the window do not fill the page, which takes at most ten milliseconds. */
export const SOME = 8_000;
/** Number of newest traces read first. They contain a full page if one in eighty matches. */
export const NEWEST = 4_000;

/** Whether a list by numbers of tokens could only use the order of ids. With other filters their indexes also have that order. */
export function isByTokens({ min_tokens: min, max_tokens: max, ...query }: TraceQuery): boolean {
  const { tenant, model, api_key_hash: hash, status, trace_group_id: group, thread_id: thread, run_id: run } = query;
  const others = [tenant, model, hash, status, group, thread, run];
  return (min !== undefined || max !== undefined) && others.every((filter) => filter === undefined);
}

/** A subquery for the newest traces of a window. */
export function newestOf({ from, before }: CreatedRange, after: Uint8Array | undefined, conditions: Conditions): string {
  const where = conditions.nested().addCreated({ from, before });
  if (after !== undefined) where.add('id <', uuidOf(after));
  return `(SELECT * FROM traces ${where.where()} ORDER BY id DESC LIMIT ${NEWEST}) AS traces`;
}

/** How many traces of the days of a window match the number of tokens, capped at `most` + 1. */
export async function countByTokens(pool: PostgresPool, query: TraceQuery, window: CreatedRange, most: number): Promise<number> {
  const conditions = tokensIn(query, window, new Conditions());
  // With this order the server uses the index, regardless of its estimates.
  const order = query.min_tokens === undefined ? 'total_tokens' : 'total_tokens DESC';
  const [row] = await pool.query<{ traces: number }>(
    `SELECT count(*) AS traces FROM (SELECT id FROM traces ${conditions.where()} ORDER BY ${order} LIMIT ${most + 1}) AS found`,
    conditions.values,
  );
  return row?.traces ?? 0;
}

/** A subquery for these traces. With `ORDER BY id LIMIT` the server assumes an even distribution, and reads a whole day if all matches are within
 *  a few hours of it: 76 ms for 5,000 of 166,000, and by tokens 10. */
export function byTokens(query: TraceQuery, window: CreatedRange, conditions: Conditions): string {
  // OFFSET prevents the server from merging other conditions. There is no LIMIT, because traces written since the count must not
  // displace others.
  return `(SELECT * FROM traces ${tokensIn(query, window, conditions.nested()).where()} OFFSET 0) AS traces`;
}

/** In whole days, because a part of a partition would be searched among all of its traces with matching tokens. */
function tokensIn({ min_tokens: min, max_tokens: max }: TraceQuery, window: CreatedRange, conditions: Conditions): Conditions {
  conditions.add('total_tokens >=', min).add('total_tokens <=', max);
  const { from, before } = wholeDays(window);
  return conditions.addTime('created_at >=', from).addTime('created_at <', before);
}

function wholeDays({ from, before }: CreatedRange): CreatedRange {
  const first = Number.isFinite(from) ? bucketStartOf(from, 'day') : from;
  return { from: first, before: Number.isFinite(before) ? bucketStartOf(before - 1, 'day') + DAY_MS : before };
}
