import { STORE_DRIVERS, type TraceStore } from '@vitrine/traces/trace-store';
import { z } from 'zod';
import { operation, type AdminRoute } from '../http/admin-route.ts';

const about = z
  .strictObject({ name: z.literal('svc-gateway'), version: z.string(), status: z.literal('ok') })
  .meta({ id: 'ServiceMetadata' });

const health = z
  .strictObject({
    status: z.literal('ok'),
    version: z.string(),
    uptime_sec: z.int().min(0),
    storage_driver: z.enum(STORE_DRIVERS),
    trace_count: z.int().min(0),
    db_size_bytes: z.int().min(0).optional().describe('Of a store that is a file.'),
  })
  .meta({ id: 'Health' });

/** `GET /` and `GET /api/health`. Health never counts rows: the store keeps its count. Spec: gateway, Resources. */
export function serviceRoutes(store: TraceStore, running: { version: string; uptimeSec: () => number }): AdminRoute[] {
  return [
    {
      path: '/',
      GET: operation({
        summary: 'Says which service this is.',
        permission: 'public',
        status: 200,
        answer: about,
        errors: [],
        handle: (): z.infer<typeof about> => ({ name: 'svc-gateway', version: running.version, status: 'ok' }),
      }),
    },
    {
      path: '/api/health',
      GET: operation({
        summary: 'Says whether the service is well, and how much it stores.',
        permission: 'public',
        status: 200,
        answer: health,
        errors: [],
        handle: async (): Promise<z.infer<typeof health>> => {
          const { driver, traceCount, sizeBytes } = await store.summary();
          return {
            status: 'ok',
            version: running.version,
            uptime_sec: running.uptimeSec(),
            storage_driver: driver,
            trace_count: traceCount,
            ...(sizeBytes === undefined ? {} : { db_size_bytes: sizeBytes }),
          };
        },
      }),
    },
  ];
}
