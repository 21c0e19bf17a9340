import type { ObservationFacts } from './observation-facts.ts';

/** A completed scan. Attempts that were blocked or failed are none. Times are milliseconds since the epoch. */
export interface Observation {
  readonly id: string;
  readonly scan_job_id: string | null;
  readonly started_at: number;
  readonly completed_at: number;
  /** Of the rules that made the facts. */
  readonly registry_checksum: string;
  readonly facts: ObservationFacts;
  /** What the rules were applied to; undefined where it was not kept. */
  readonly evidence?: unknown;
}
