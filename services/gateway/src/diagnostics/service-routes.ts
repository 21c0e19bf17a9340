import { STORE_DRIVERS, type TraceStore } from '@vitrine/traces/trace-store';
import { z } from 'zod';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import { HEALTH_REASONS, type HealthReason } from './health-reasons.ts';

const about = z
  .strictObject({ name: z.literal('svc-gateway'), version: z.string(), status: z.literal('ok') })
  .meta({ id: 'ServiceMetadata' });

const health = z
  .strictObject({
    status: z.enum(['ok', 'degraded']),
    reasons: z.array(z.enum(HEALTH_REASONS)).min(1).optional().describe('Why it is degraded; only then.'),
    version: z.string(),
    uptime_sec: z.int().min(0),
    storage_driver: z.enum(STORE_DRIVERS),
    trace_count: z.int().min(0),
    db_size_bytes: z.int().min(0).optional().describe('Of a store that is a file.'),
  })
  .meta({ id: 'Health' });

/** What health says of the process beside its store. */
export interface RunningService {
  readonly version: string;
  readonly uptimeSec: () => number;
  /** Why it is degraded now. */
  readonly reasons: () => readonly HealthReason[];
}

/** `GET /` and `GET /api/health`. Health answers 200 also when the gateway is degraded: it says how well it serves, not whether. It never
 *  counts rows, because the store keeps its count, and waits for no worker. Spec: gateway, Resources; decisions, section 3. */
export function serviceRoutes(store: TraceStore, running: RunningService): AdminRoute[] {
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
        summary: 'Says whether the service is well, why not, and how much it stores.',
        permission: 'public',
        status: 200,
        answer: health,
        errors: [],
        handle: async (): Promise<z.infer<typeof health>> => {
          const { driver, traceCount, sizeBytes } = await store.summary();
          const reasons = running.reasons();
          return {
            ...(reasons.length === 0 ? { status: 'ok' } : { status: 'degraded', reasons: [...reasons] }),
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
