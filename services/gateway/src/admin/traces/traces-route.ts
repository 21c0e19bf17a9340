import { traceDetail, tracePage } from '@vitrine/traces/trace';
import type { TraceStore } from '@vitrine/traces/trace-store';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import { listQuery, traceQueryOf } from './list-query.ts';
import { readTrace, traceParams } from './read-trace.ts';

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
