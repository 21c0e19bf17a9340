import type { TraceStore } from '@vitrine/traces/trace-store';
import type { AdminRoute } from '../http/admin-app.ts';

/** `GET /` and `GET /api/health`. Health never counts rows: the store keeps its count. Spec: gateway, Resources. */
export function serviceRoutes(store: TraceStore, about: { version: string; uptimeSec: () => number }): AdminRoute[] {
  return [
    { path: '/', GET: () => ({ name: 'svc-gateway', version: about.version, status: 'ok' }) },
    {
      path: '/api/health',
      GET: async () => {
        const { driver, traceCount, sizeBytes } = await store.summary();
        return {
          status: 'ok',
          version: about.version,
          uptime_sec: about.uptimeSec(),
          storage_driver: driver,
          trace_count: traceCount,
          ...(sizeBytes === undefined ? {} : { db_size_bytes: sizeBytes }),
        };
      },
    },
  ];
}
