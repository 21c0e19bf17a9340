import { CURSOR, traceDetail, tracePage, type TraceDetail } from '@vitrine/traces/trace';
import { COST_STATUSES, USAGE_STATUSES } from '@vitrine/traces/trace-values';
import { readCursor, type TraceFilters, type TraceQuery, type TraceStore } from '@vitrine/traces/trace-store';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import {
  from,
  integer,
  oneOf,
  parameter,
  rangeQuery,
  text,
  to,
  type FilterShapes,
} from '@vitrine/http-api/requests/query-shapes';
import { z } from 'zod';
import { Fault } from '@vitrine/faults/fault';
import type { Tenant } from '@vitrine/traces/exchange-scope';

const TRACE_ID = /^[0-9a-f]{32}$/;
/** The parameter of a path below `/api/traces`. */
export const traceParams = z.object({ id: z.string().regex(TRACE_ID).describe('The id of a trace.') });

/** The trace with an id that a client sent. Faults: `trace_not_found`, `trace_store_unavailable`. */
export async function readTrace(store: TraceStore, id: string | undefined, tenant: Tenant | undefined): Promise<TraceDetail> {
  const trace = await findTrace(store, id ?? '', tenant);
  if (trace === undefined) throw new Fault('trace_not_found', { say: 'trace not found' });
  return trace;
}

/** The trace with this id, or undefined when there is none. Faults: `trace_store_unavailable`. */
export async function findTrace(store: TraceStore, id: string, tenant: Tenant | undefined): Promise<TraceDetail | undefined> {
  return TRACE_ID.test(id) ? store.get(id, tenant) : undefined;
}

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
  usage_status: oneOf(USAGE_STATUSES).describe('Only traces whose usage is known like this.'),
  cost_status: oneOf(COST_STATUSES).describe('Only traces whose cost is known like this.'),
  min_tokens: integer(0, MAX_TOKENS).describe('Only traces of at least this many tokens in total.'),
  max_tokens: integer(0, MAX_TOKENS).describe('Only traces of at most this many tokens in total.'),
  from: from(),
  to: to(),
  limit: integer(0, MAX_LIMIT).describe('Traces per page; 0 or absent: 50.'),
  cursor: parameter(
    { type: 'string', pattern: CURSOR.source },
    (value, refuse) => readCursor(value) ?? refuse('invalid cursor'),
  ).describe('next_cursor of the previous page.'),
} satisfies FilterShapes<TraceFilters, 'limit' | 'cursor'>).refine(
  ({ min_tokens, max_tokens }) => min_tokens === undefined || max_tokens === undefined || max_tokens >= min_tokens,
  {
    message: 'max_tokens must be greater than or equal to min_tokens',
  },
);

/** The store query of these parameters. */
export function traceQueryOf({ limit, cursor, ...filters }: z.infer<typeof listQuery>): TraceQuery {
  return { ...filters, limit: limit === undefined || limit === 0 ? DEFAULT_LIMIT : limit, after: cursor };
}

/** `GET /api/traces` and `GET /api/traces/:id`. Spec: G2.4, G2.5, G5.1, G5.2, G5.9. */
export function traceRoutes(store: TraceStore): AdminRoute[] {
  return [
    {
      path: '/api/traces',
      GET: operation({
        summary: 'Lists traces, newest first.',
        permission: 'analytics:read',
        query: listQuery,
        status: 200,
        response: tracePage,
        errors: [503],
        handle: ({ query, identity }) => store.list({ ...traceQueryOf(query), tenant: identity }),
      }),
    },
    {
      path: '/api/traces/:id',
      params: traceParams,
      GET: operation({
        summary: 'Shows one trace in full.',
        permission: 'analytics:read',
        status: 200,
        response: traceDetail,
        errors: [404, 503],
        handle: ({ params, identity }) => readTrace(store, params['id'], identity),
      }),
    },
  ];
}
