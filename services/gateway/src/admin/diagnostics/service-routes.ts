import { STORE_DRIVERS, type TraceStore } from '@vitrine/traces/trace-store';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import { z } from 'zod';
import type { AdminRoute } from '../http/admin-route.ts';
import { HEALTH_REASONS, type HealthReason } from './health-reasons.ts';

const details = {
  storage_driver: z.enum(STORE_DRIVERS),
  trace_count: z.int().min(0),
  db_size_bytes: z.int().min(0).optional().describe('Of a store that is a file.'),
  spooled_traces: z.int().min(1).optional().describe('Traces that wait on the disk for the broker or its topic.'),
  spooled_since: z.iso.datetime().optional().describe('Since when traces wait there.'),
};

/** What health says of the process beside its store. */
export interface RunningService {
  readonly version: string;
  readonly uptimeSec: () => number;
  /** Why it is degraded now. */
  readonly reasons: () => readonly HealthReason[];
  /** Traces that wait for a broker; undefined where none is used. */
  readonly spool: () => { readonly spooledRecords: number; readonly spoolingSince: number | undefined } | undefined;
}

/** `GET /` and `GET /api/health`. Health never counts rows, because the store keeps its count, and waits for no worker and no other server.
 *  Spec: G2.1, G2.2, G3.1 to G3.6, G21.1. */
export function gatewayServiceRoutes(store: TraceStore, { version, uptimeSec, reasons, spool }: RunningService): AdminRoute[] {
  return serviceRoutes({
    name: 'svc-gateway',
    version,
    uptimeSec,
    reasons: HEALTH_REASONS,
    degradedBy: reasons,
    details,
    readDetails: () => {
      const { driver, traceCount, sizeBytes } = store.knownSummary;
      const { spooledRecords = 0, spoolingSince } = spool() ?? {};
      return {
        storage_driver: driver,
        trace_count: traceCount,
        ...(sizeBytes === undefined ? {} : { db_size_bytes: sizeBytes }),
        ...(spoolingSince === undefined
          ? {}
          : { spooled_traces: spooledRecords, spooled_since: new Date(spoolingSince).toISOString() }),
      };
    },
  });
}
