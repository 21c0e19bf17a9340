import type { QueueCounters } from '../capture/queue-counters.ts';
import { pressureState, utilizationPct, type PressureState } from '../capture/queue-pressure.ts';

/** Spec: gateway, Trace-pipeline diagnostics. The last three lines are ours: what was held back or not kept. */
export interface PipelineDiagnostics {
  readonly schema_version: 'trace-pipeline-diagnostics.v1';
  readonly generated_at: string;
  readonly diagnostics: {
    readonly queue_capacity: number;
    readonly queue_depth: number;
    readonly queue_depth_high_watermark: number;
    readonly queue_utilization_pct: number;
    readonly queue_high_watermark_utilization_pct: number;
    readonly queue_pressure_state: PressureState;
    readonly queue_high_watermark_pressure_state: PressureState;
    readonly enqueue_accepted_total: number;
    readonly enqueue_dropped_total: number;
    readonly write_dropped_total: number;
    readonly total_dropped_total: number;
    readonly last_enqueue_drop_at?: string;
    readonly last_write_drop_at?: string;
    readonly last_write_drop_operation?: string;
    readonly write_failures_by_class?: Readonly<Record<string, number>>;
    readonly store_driver?: string;
    readonly written_total: number;
    readonly admission_delayed_total: number;
    readonly body_bytes_held: number;
    readonly body_bytes_capacity: number;
    readonly body_bytes_refused_total: number;
  };
}

export interface PipelineState {
  readonly capacity: number;
  readonly depth: number;
  readonly counters: QueueCounters;
  readonly bodies: { readonly heldBytes: number; readonly maxBytes: number; readonly refusedTotal: number };
  readonly storeDriver: string;
}

/** What the trace pipeline has done and lost, as of `now` (milliseconds since the epoch). */
export function pipelineDiagnostics(
  { capacity, depth, counters, bodies, storeDriver }: PipelineState,
  now: number,
): PipelineDiagnostics {
  const utilization = utilizationPct(depth, capacity);
  const highest = utilizationPct(counters.highWatermark, capacity);
  const failures = Object.entries(counters.failuresByClass).filter(([, count]) => count > 0);
  return {
    schema_version: 'trace-pipeline-diagnostics.v1',
    generated_at: timeOf(now),
    diagnostics: {
      queue_capacity: capacity,
      queue_depth: depth,
      queue_depth_high_watermark: counters.highWatermark,
      queue_utilization_pct: utilization,
      queue_high_watermark_utilization_pct: highest,
      queue_pressure_state: pressureState(utilization),
      queue_high_watermark_pressure_state: pressureState(highest),
      enqueue_accepted_total: counters.enqueueAccepted,
      enqueue_dropped_total: counters.enqueueDropped,
      write_dropped_total: counters.writeDropped,
      total_dropped_total: counters.enqueueDropped + counters.writeDropped,
      ...(counters.lastEnqueueDropAt === undefined ? {} : { last_enqueue_drop_at: timeOf(counters.lastEnqueueDropAt) }),
      ...(counters.lastWriteDropAt === undefined ? {} : { last_write_drop_at: timeOf(counters.lastWriteDropAt) }),
      ...(counters.lastWriteDropOperation === undefined ? {} : { last_write_drop_operation: counters.lastWriteDropOperation }),
      ...(failures.length === 0 ? {} : { write_failures_by_class: Object.fromEntries(failures) }),
      store_driver: storeDriver,
      written_total: counters.written,
      admission_delayed_total: counters.admissionDelayed,
      body_bytes_held: bodies.heldBytes,
      body_bytes_capacity: bodies.maxBytes,
      body_bytes_refused_total: bodies.refusedTotal,
    },
  };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
