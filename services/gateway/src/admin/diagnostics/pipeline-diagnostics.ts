import type { WriterDrops } from '@vitrine/trace-store-postgres/writer-statistics';
import { FAILURE_CLASSES, WRITE_OPERATIONS, type FailureClass } from '@vitrine/traces/record-writer';
import { STORE_DRIVERS } from '@vitrine/traces/trace-store';
import { z } from 'zod';
import { AUDIT_LOSS_CAUSES, type AuditLossCause } from '../../auth/audit/audit-backlog.ts';
import type { QueueCounters } from '../../recording/capture/queue-counters.ts';
import { PRESSURE_STATES, pressureState, utilizationPct } from '../../recording/capture/queue-pressure.ts';
import { operation, type AdminRoute } from '../http/admin-route.ts';

const count = z.int().min(0);
const percentage = z.int().min(0).max(100);
const moment = z.iso.datetime();
const pressure = z.enum(PRESSURE_STATES);

/** Spec: G3.7 to G3.11. The last eight fields are our own: delayed requests and dropped data. */
const pipelineDiagnosticsShape = z
  .strictObject({
    schema_version: z.literal('trace-pipeline-diagnostics.v1'),
    generated_at: moment,
    diagnostics: z.strictObject({
      queue_capacity: count,
      queue_depth: count,
      queue_depth_high_watermark: count,
      queue_utilization_pct: percentage,
      queue_high_watermark_utilization_pct: percentage,
      queue_pressure_state: pressure,
      queue_high_watermark_pressure_state: pressure,
      enqueue_accepted_total: count,
      enqueue_dropped_total: count,
      write_dropped_total: count,
      total_dropped_total: count,
      last_enqueue_drop_at: moment.optional(),
      last_write_drop_at: moment.optional(),
      last_write_drop_operation: z.enum(WRITE_OPERATIONS).optional(),
      write_failures_by_class: z.partialRecord(z.enum(FAILURE_CLASSES), count).optional(),
      store_driver: z.enum(STORE_DRIVERS).optional(),
      written_total: count,
      admission_delayed_total: count,
      body_bytes_held: count,
      body_bytes_capacity: count,
      body_bytes_refused_total: count,
      rejections_unkept_total: count.describe('Rejected exchanges without a known key that were not recorded: ten a second are.'),
      audit_lost_total: count.describe('Denials without an audit event.'),
      audit_lost_by_cause: z
        .partialRecord(z.enum(AUDIT_LOSS_CAUSES), count)
        .optional()
        .describe('The same by cause: whose they were and which limit was reached, or a failed write. Absent without losses.'),
    }),
  })
  .meta({
    id: 'TracePipelineDiagnostics',
    description:
      'Counters of the trace pipeline since the process started, losses included; with Kafka, also losses of trace-writers in the last days.',
  });
type PipelineDiagnostics = z.infer<typeof pipelineDiagnosticsShape>;

interface PipelineState {
  readonly queue: { readonly capacity: number; readonly depth: number; readonly counters: QueueCounters };
  readonly bodies: { readonly heldBytes: number; readonly maxBytes: number; readonly refusedTotal: number };
  readonly storeDriver: (typeof STORE_DRIVERS)[number];
  readonly rejectionsUnkept: number;
  /** Traces dropped by trace-writers. */
  readonly writerDrops: WriterDrops;
  readonly audit: { readonly lost: number; readonly lostByCause: Partial<Record<AuditLossCause, number>> };
}

/** Counters and losses of the trace pipeline as of `now` (milliseconds since the epoch). */
export function pipelineDiagnostics(
  { queue: { capacity, depth, counters }, bodies, storeDriver, rejectionsUnkept, writerDrops, audit }: PipelineState,
  now: number,
): PipelineDiagnostics {
  const utilization = utilizationPct(depth, capacity);
  const highest = utilizationPct(counters.highWatermark, capacity);
  const failuresOf = (errorClass: FailureClass) =>
    Object.entries(writerDrops.counts)
      .filter(([kind]) => kind.endsWith(` ${errorClass}`))
      .reduce((sum, [, count]) => sum + count, counters.failuresByClass[errorClass]);
  const failures = FAILURE_CLASSES.map((name) => [name, failuresOf(name)] as const).filter(([, count]) => count > 0);
  const writeDropped = Object.values(writerDrops.counts).reduce((sum, count) => sum + count, counters.writeDropped);
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
      write_dropped_total: writeDropped,
      total_dropped_total: counters.enqueueDropped + writeDropped,
      ...(counters.lastEnqueueDropAt === undefined ? {} : { last_enqueue_drop_at: timeOf(counters.lastEnqueueDropAt) }),
      ...lastWriteDrop(counters, writerDrops),
      ...(failures.length === 0 ? {} : { write_failures_by_class: Object.fromEntries(failures) }),
      store_driver: storeDriver,
      written_total: counters.written,
      admission_delayed_total: counters.admissionDelayed,
      body_bytes_held: bodies.heldBytes,
      body_bytes_capacity: bodies.maxBytes,
      body_bytes_refused_total: bodies.refusedTotal,
      rejections_unkept_total: rejectionsUnkept,
      audit_lost_total: audit.lost,
      ...(audit.lost === 0 ? {} : { audit_lost_by_cause: audit.lostByCause }),
    },
  };
}

/** The last drop in this process or in a trace-writer. */
function lastWriteDrop({ lastWriteDropAt: ownAt, lastWriteDropOperation: own }: QueueCounters, { last }: WriterDrops) {
  const byWriter = last !== undefined && last.at > (ownAt ?? 0) ? last : undefined;
  const at = byWriter?.at ?? ownAt;
  const operation = WRITE_OPERATIONS.find((name) => name === (byWriter?.kind.split(' ', 1)[0] ?? own));
  return {
    ...(at !== undefined && { last_write_drop_at: timeOf(at) }),
    ...(operation !== undefined && { last_write_drop_operation: operation }),
  };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** `GET /api/diagnostics/trace-pipeline`. Spec: G2.3. */
export function pipelineRoutes(diagnose: () => Promise<PipelineDiagnostics>): AdminRoute[] {
  return [
    {
      path: '/api/diagnostics/trace-pipeline',
      GET: operation({
        summary: 'Returns the counters of the trace pipeline, losses included.',
        permission: 'analytics:read',
        status: 200,
        response: pipelineDiagnosticsShape,
        errors: [],
        handle: diagnose,
      }),
    },
  ];
}
