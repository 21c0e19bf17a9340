import { WRITE_INSTRUMENTS, WRITTEN_INSTRUMENTS } from '@vitrine/traces/write-telemetry';
import { QUEUE_INSTRUMENTS, REQUEST_INSTRUMENTS } from '../telemetry/metrics/instruments.ts';

/** The 12 instruments of the specification. Spec: G14.27 to G14.33. */
export const GATEWAY_INSTRUMENTS = {
  ...QUEUE_INSTRUMENTS,
  ...WRITTEN_INSTRUMENTS,
  ...WRITE_INSTRUMENTS,
  ...REQUEST_INSTRUMENTS,
};
