import type { Route } from '@vitrine/http-api/route';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import { HEALTH_REASONS, healthReasons, type ScannerState } from './scanner-state.ts';

const count = z.int().min(0);
const details = { scans_in_flight: count, lag_records: count.optional() };

interface HealthFigures {
  readonly inFlight: number;
  /** Undefined while unknown. */
  readonly lagRecords: number | undefined;
}

/** Health. Always responds with 200, and reports what the service waits for. */
export function healthRoutes(state: () => ScannerState, figures: () => HealthFigures, uptimeSec: () => number): Route[] {
  const readDetails = () => {
    const { inFlight, lagRecords } = figures();
    return { scans_in_flight: inFlight, ...(lagRecords !== undefined && { lag_records: lagRecords }) };
  };
  return serviceRoutes({
    name: 'enrich-scan-queue',
    version: VERSION,
    uptimeSec,
    reasons: HEALTH_REASONS,
    degradedBy: () => healthReasons(state()),
    details,
    readDetails,
  });
}
