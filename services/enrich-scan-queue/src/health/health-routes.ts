import { probeOperation } from '@vitrine/http-api/probe-operation';
import type { Route } from '@vitrine/http-api/route';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import { HEALTH_REASONS, healthReasons, stalledBy, waitingFor, type ScannerState } from './scanner-state.ts';

const count = z.int().min(0);
const details = { scans_in_flight: count, lag_records: count.optional() };

export interface HealthFigures {
  readonly inFlight: number;
  /** Undefined while it is not known. */
  readonly lagRecords: number | undefined;
}

/** Faults of these routes. */
export const HEALTH_FAULTS = { statuses: { not_ready: 503, not_live: 503 }, expected: ['not_ready'] };

/** Health, which responds with 200 as long as the process does, and the probes of the kubelet: `/livez` fails when nothing progresses,
 *  `/readyz` while the service waits for something. */
export function healthRoutes(state: () => ScannerState, figures: () => HealthFigures, uptimeSec: () => number): Route[] {
  const readDetails = async () => {
    const { inFlight, lagRecords } = figures();
    return { scans_in_flight: inFlight, ...(lagRecords !== undefined && { lag_records: lagRecords }) };
  };
  const live = probeOperation({
    status: 'live',
    summary: 'Says whether the process makes progress, or should be restarted.',
    failure: () => stalledBy(state()),
  });
  const ready = probeOperation({
    status: 'ready',
    summary: 'Says whether the service takes jobs, or what it waits for.',
    failure: () => waitingFor(state()),
  });
  return [
    ...serviceRoutes({
      name: 'enrich-scan-queue',
      version: VERSION,
      uptimeSec,
      reasons: HEALTH_REASONS,
      degradedBy: () => healthReasons(state()),
      details,
      readDetails,
    }),
    { path: '/livez', GET: live },
    { path: '/readyz', GET: ready },
  ];
}
