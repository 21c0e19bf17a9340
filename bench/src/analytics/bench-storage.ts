import type { OwnedTraceStore } from '@vitrine/traces/trace-store';
import type { Progress } from '../bench.ts';
import type { AnalyticsPlan } from './analytics-plan.ts';

/** A store with the traffic of the bench. */
export interface Loaded {
  readonly store: OwnedTraceStore;
  /** The time of the oldest trace. */
  readonly from: number;
  /** Time for creating an exchange, packing, deriving and writing. Undefined when nothing was loaded. */
  readonly microsPerTrace: number | undefined;
  readonly sizeBytes: number;
}

/** Location of the bench's traces. */
export interface BenchStorage extends AsyncDisposable {
  /** Environment variables of a gateway that reads it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Opens the store, and fills it when it is empty. */
  load(plan: AnalyticsPlan, progress: Progress): Promise<Loaded>;
}
