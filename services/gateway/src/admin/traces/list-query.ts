import { CURSOR } from '@vitrine/traces/trace';
import { readCursor, type TraceFilters, type TraceQuery } from '@vitrine/traces/trace-store';
import { from, integer, parameter, rangeQuery, text, to, type FilterShapes } from '@vitrine/http-api/requests/query-shapes';
import type { z } from 'zod';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_TOKENS = 10_000_000;

/** The parameters of `GET /api/traces`. Spec: G1.10, G5.3 to G5.8. */
export const listQuery = rangeQuery({
  trace_group_id: text().describe('Only traces of this group.'),
  thread_id: text().describe('Only traces of this thread.'),
  run_id: text().describe('Only traces of this run.'),
  provider: text().describe('Only this provider, such as openai.'),
  model: text().describe('Only this model, by its exact name.'),
  api_key_hash: text().describe('Only traces whose provider credential has this SHA-256.'),
  status: integer(100, 599).describe('Only responses of this status.'),
  min_tokens: integer(0, MAX_TOKENS).describe('Only traces of at least so many tokens in all.'),
  max_tokens: integer(0, MAX_TOKENS).describe('Only traces of at most so many tokens in all.'),
  from: from(),
  to: to(),
  limit: integer(0, MAX_LIMIT).describe('How many traces a page holds; 0 or absent: 50.'),
  cursor: parameter(
    { type: 'string', pattern: CURSOR.source },
    (value, refuse) => readCursor(value) ?? refuse('invalid cursor'),
  ).describe('The next_cursor of the page before.'),
} satisfies FilterShapes<TraceFilters, 'limit' | 'cursor'>).refine(
  ({ min_tokens, max_tokens }) => min_tokens === undefined || max_tokens === undefined || max_tokens >= min_tokens,
  {
    message: 'max_tokens must be greater than or equal to min_tokens',
  },
);

/** What the parameters ask the store for. */
export function traceQueryOf({ limit, cursor, ...filters }: z.infer<typeof listQuery>): TraceQuery {
  return { ...filters, limit: limit === undefined || limit === 0 ? DEFAULT_LIMIT : limit, after: cursor };
}
