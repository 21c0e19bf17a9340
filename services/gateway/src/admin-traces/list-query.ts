import { readCursor, type TraceQuery } from '@vitrine/traces/trace-store';
import { z } from 'zod';
import { BACKWARD, from, integer, isForward, parameter, text, to } from '../http/query-shapes.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_TOKENS = 10_000_000;

/** The parameters of `GET /api/traces`. Spec: gateway, GET /api/traces query parameters. */
export const listQuery = z
  .object({
    trace_group_id: text(),
    thread_id: text(),
    run_id: text(),
    provider: text(),
    model: text(),
    api_key_hash: text(),
    status: integer(100, 599),
    min_tokens: integer(0, MAX_TOKENS),
    max_tokens: integer(0, MAX_TOKENS),
    from: from(),
    to: to(),
    /** 0 or omitted: 50. */
    limit: integer(0, MAX_LIMIT),
    cursor: parameter({ type: 'string' }, (value, refuse) => readCursor(value) ?? refuse('invalid cursor')),
  })
  .refine(({ min_tokens, max_tokens }) => min_tokens === undefined || max_tokens === undefined || max_tokens >= min_tokens, {
    message: 'max_tokens must be greater than or equal to min_tokens',
  })
  .refine(isForward, { message: BACKWARD });

/** What the parameters ask the store for. */
export function traceQueryOf({ limit, cursor, ...filters }: z.infer<typeof listQuery>): TraceQuery {
  return { ...filters, limit: limit === undefined || limit === 0 ? DEFAULT_LIMIT : limit, after: cursor };
}
