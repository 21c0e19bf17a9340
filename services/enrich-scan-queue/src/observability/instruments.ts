import { gauge } from '@vitrine/telemetry/metrics/instrument';

/** Of the scans of this process. */
export const SCAN_GAUGES = {
  inFlight: gauge('scan.in_flight', '{scan}', 'Scans that run in this process.'),
};
