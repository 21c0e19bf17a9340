import type { Permission } from '@vitrine/gateway-keys/permission';
import type { RawRoute } from '@vitrine/http-api/api-app';
import { probeRoutes, type Readiness } from '@vitrine/http-api/probe-routes';
import { TraceAnalytics } from '@vitrine/traces/trace-analytics';
import { randomBytes } from 'node:crypto';
import { analyticsRoutes } from './analytics/analytics-routes.ts';
import { auditRoutes } from './audit/audit-route.ts';
import { keyRoutes } from './keys/keys-route.ts';
import { lineageRoutes } from './traces/lineage-routes.ts';
import { traceRoutes } from './traces/traces-route.ts';
import type { OpenKeys } from '../auth/keys/open-keys.ts';
import type { RateLimiter } from '../auth/rate-limiter.ts';
import type { BodyBudget } from '../recording/capture/body-budget.ts';
import type { TraceQueue } from '../recording/capture/trace-queue.ts';
import { gatewayServiceRoutes, type HealthReason } from './diagnostics/service-routes.ts';
import { pipelineDiagnostics, pipelineRoutes } from './diagnostics/pipeline-diagnostics.ts';
import { createAdminApp, type AdminContext } from './http/admin-app.ts';
import type { OpenedTraces } from '../recording/opened-traces.ts';
import { VERSION } from '../telemetry/observability-config.ts';

interface AdminApiOptions extends Omit<AdminContext, 'version' | 'rawRoutes'> {
  readonly startedAt: number;
  /** Undefined unless it is on. */
  readonly scrape: RawRoute<Permission> | undefined;
  readonly traces: OpenedTraces;
  readonly queue: TraceQueue;
  readonly budget: BodyBudget;
  readonly keys: OpenKeys;
  readonly anonymousRejections: RateLimiter;
  readonly reasons: () => readonly HealthReason[];
  readonly readiness: Readiness<string>;
}

/** The admin API with all of its routes. */
export function createAdminApi(options: AdminApiOptions): ReturnType<typeof createAdminApp> {
  const { startedAt, traces, queue, budget, keys, anonymousRejections, reasons, readiness, scrape } = options;
  const { store } = traces;
  const diagnose = async () =>
    pipelineDiagnostics(
      {
        queue,
        bodies: budget,
        storeDriver: store.driver,
        rejectionsUnkept: anonymousRejections.rejected,
        writerDrops: await traces.writerDrops(),
        audit: keys.trail,
      },
      Date.now(),
    );
  const uptimeSec = () => Math.floor((performance.now() - startedAt) / 1_000);
  const routes = [
    ...gatewayServiceRoutes(store, { version: VERSION, uptimeSec, reasons, spool: () => traces.publisher?.figures }),
    ...traceRoutes(store),
    ...lineageRoutes(store, () => randomBytes(8).toString('hex')),
    ...analyticsRoutes(new TraceAnalytics(store)),
    ...keyRoutes(keys.keys),
    ...auditRoutes(keys.listAudit),
    ...pipelineRoutes(diagnose),
  ];
  const rawRoutes = [...probeRoutes({ readiness }), ...(scrape === undefined ? [] : [scrape])];
  return createAdminApp(routes, { ...options, rawRoutes, version: VERSION });
}
