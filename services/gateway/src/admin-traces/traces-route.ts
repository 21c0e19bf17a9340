import { Fault } from '@vitrine/faults/fault';
import type { TraceStore } from '@vitrine/traces/trace-store';
import type { AdminRoute } from '../http/admin-app.ts';
import { readListQuery } from './list-query.ts';

const TRACE_ID = /^[0-9a-f]{32}$/;

/** `GET /api/traces` and `GET /api/traces/:id`. Spec: gateway, Endpoints. */
export function traceRoutes(store: TraceStore): AdminRoute[] {
  return [
    { path: '/api/traces', GET: (request) => store.list(readListQuery(request.query)) },
    {
      path: '/api/traces/:id',
      GET: async (request) => {
        const id = String(request.params['id']);
        const trace = TRACE_ID.test(id) ? await store.get(id) : undefined;
        if (trace === undefined) throw new Fault('trace_not_found', { say: 'trace not found' });
        return trace;
      },
    },
  ];
}
