import { STORE_DRIVERS, type TraceStore } from '@vitrine/traces/trace-store';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import { z } from 'zod';
import type { AdminRoute } from '../http/admin-route.ts';

/** Why a running gateway is degraded. Each has a heading in docs/failure-modes.md. Spec: G3.4. */
export const HEALTH_REASONS = [
  'writes_failing',
  'queue_saturated',
  'keys_not_refreshed',
  'pepper_mismatch',
  'database_unavailable',
  'broker_unavailable',
  'topic_missing',
] as const;
export type HealthReason = (typeof HEALTH_REASONS)[number];

/** The inputs of the health check. Reading them never blocks. */
interface HealthState {
  readonly writes: { readonly isFailing: boolean };
  readonly queue: { readonly isSaturated: boolean };
  readonly auth: { readonly isRefreshFailing: () => boolean; readonly pepperProblem: () => object | undefined };
  readonly traces: {
    readonly isDatabaseFailing: () => boolean;
    readonly publisher: { readonly figures: { readonly failedBy: string | undefined } } | undefined;
  };
}

/** The reasons why the gateway is degraded now; empty when it is healthy. */
export function healthReasons({ writes, queue, auth, traces }: HealthState): HealthReason[] {
  const failedBy = traces.publisher?.figures.failedBy;
  const holds: Readonly<Record<HealthReason, boolean>> = {
    writes_failing: writes.isFailing,
    queue_saturated: queue.isSaturated,
    keys_not_refreshed: auth.isRefreshFailing(),
    pepper_mismatch: auth.pepperProblem() !== undefined,
    database_unavailable: traces.isDatabaseFailing(),
    broker_unavailable: failedBy !== undefined && failedBy !== 'topic',
    topic_missing: failedBy === 'topic',
  };
  return HEALTH_REASONS.filter((reason) => holds[reason]);
}

const details = {
  storage_driver: z.enum(STORE_DRIVERS),
  trace_count: z.int().min(0),
  db_size_bytes: z.int().min(0).optional().describe('Size of the trace file; absent with Postgres.'),
  spooled_traces: z.int().min(1).optional().describe('Traces on the disk that wait for the broker or its topic.'),
  spooled_since: z.iso.datetime().optional().describe('When spooling started, or when the process started with spooled traces.'),
};

/** The health of the process apart from its store. */
export interface RunningService {
  readonly version: string;
  readonly uptimeSec: () => number;
  /** Why it is degraded now. */
  readonly reasons: () => readonly HealthReason[];
  /** Traces that wait for a broker; undefined without a broker. */
  readonly spool: () => { readonly spooledRecords: number; readonly spoolingSince: number | undefined } | undefined;
}

/** `GET /` and `GET /api/health`. Health never counts rows, because the store keeps its own count. It does not wait for a worker or
 *  another server.
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
