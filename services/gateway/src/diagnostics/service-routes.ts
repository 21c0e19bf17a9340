import { STORE_DRIVERS, type TraceStore } from '@vitrine/traces/trace-store';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import { z } from 'zod';
import type { AdminRoute } from '../http/admin-route.ts';
import { HEALTH_REASONS, type HealthReason } from './health-reasons.ts';

const details = {
  storage_driver: z.enum(STORE_DRIVERS),
  trace_count: z.int().min(0),
  db_size_bytes: z.int().min(0).optional().describe('Of a store that is a file.'),
};

/** What health says of the process beside its store. */
export interface RunningService {
  readonly version: string;
  readonly uptimeSec: () => number;
  /** Why it is degraded now. */
  readonly reasons: () => readonly HealthReason[];
}

/** `GET /` and `GET /api/health`. Health never counts rows, because the store keeps its count, and waits for no worker and no other server.
 *  Spec: gateway, Resources; decisions, section 3. */
export function gatewayServiceRoutes(store: TraceStore, { version, uptimeSec, reasons }: RunningService): AdminRoute[] {
  return serviceRoutes({
    name: 'svc-gateway',
    version,
    uptimeSec,
    reasons: HEALTH_REASONS,
    degradedBy: reasons,
    details,
    readDetails: () => {
      const { driver, traceCount, sizeBytes } = store.knownSummary;
      return {
        storage_driver: driver,
        trace_count: traceCount,
        ...(sizeBytes === undefined ? {} : { db_size_bytes: sizeBytes }),
      };
    },
  });
}
