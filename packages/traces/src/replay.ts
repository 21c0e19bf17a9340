import { z } from 'zod';
import { orderCheckpoints } from './checkpoint-order.ts';
import type { Tenant } from './exchange-scope.ts';
import { lineage, traceDetail, traceId, traceSummary, type Checkpoint, type Lineage, type TraceDetail } from './trace.ts';
import type { CheckpointQuery, TraceStore } from './trace-store.ts';

const replayCheckpoint = traceSummary
  .pick({
    id: true,
    timestamp: true,
    provider: true,
    model: true,
    request_method: true,
    request_path: true,
    response_status: true,
    total_tokens: true,
    latency_ms: true,
    created_at: true,
  })
  .extend({ lineage })
  .meta({ id: 'ReplayCheckpoint' });
type ReplayCheckpoint = z.infer<typeof replayCheckpoint>;

/** A conversation up to one of its checkpoints. Spec: gateway, Replay response. */
export const replay = z
  .strictObject({
    source_trace_id: traceId,
    target_checkpoint_id: traceId,
    lineage: lineage.describe("Of the target; what it does not say itself is the source's, or what was asked for."),
    checkpoints: z.array(replayCheckpoint).describe('From the beginning on; the target is the last.'),
    truncated: z.boolean().describe('Whether there are checkpoints before the target that limit left out.'),
    target_trace: traceDetail,
  })
  .meta({ id: 'Replay', description: 'A conversation up to one of its checkpoints.' });
export type Replay = z.infer<typeof replay>;

export interface ReplayRequest {
  readonly source: TraceDetail;
  readonly target: TraceDetail;
  /** Instead of the source's. */
  readonly threadId: string | undefined;
  readonly runId: string | undefined;
  readonly tenant: Tenant | undefined;
  /** 1 to 500 checkpoints. */
  readonly limit: number;
}

/** Replays the conversation of `source` up to `target`; undefined when the target does not belong to it. A source that says
 *  nothing of its lineage stands alone. Reads at most twice `limit` checkpoints. Spec: gateway decisions, section 1, Lineage. */
export async function readReplay(store: Pick<TraceStore, 'checkpoints'>, request: ReplayRequest): Promise<Replay | undefined> {
  const { source, target, limit } = request;
  const own = lineageOf(source);
  const scope = {
    trace_group_id: own.group_id,
    thread_id: request.threadId ?? own.thread_id,
    run_id: request.runId ?? own.run_id,
  };
  const last: Checkpoint = { ...target, lineage: lineageOf(target) };
  if (target.id !== source.id && !isWithin(last.lineage, scope)) return undefined;
  const isAlone = Object.values(scope).every((id) => id === undefined);
  const read = isAlone ? NOTHING : await readCheckpoints(store, { ...scope, tenant: request.tenant, limit }, target.id);
  const all = new Map([last, ...read.checkpoints].map((checkpoint) => [checkpoint.id, checkpoint]));
  const ordered = orderCheckpoints([...all.values()]);
  const history = ordered.slice(0, ordered.findIndex(({ id }) => id === target.id) + 1);
  return {
    source_trace_id: source.id,
    target_checkpoint_id: target.id,
    lineage: {
      ...given({ group_id: own.group_id, thread_id: scope.thread_id, run_id: scope.run_id }),
      ...last.lineage,
    },
    checkpoints: history.slice(-limit).map(summaryOf),
    truncated: read.isCapped || history.length > limit,
    target_trace: target,
  };
}

/** Where a trace stands; one of which nothing is known stands for itself. */
export function lineageOf(trace: TraceDetail): Lineage {
  return trace.lineage ?? { checkpoint_id: trace.id, immutable: true };
}

const NOTHING = { checkpoints: [], isCapped: false };

/** The newest checkpoints and, when those are not all, the newest before the target: it may be older than every one of them, and
 *  what a client numbered before it may be younger. */
async function readCheckpoints(store: Pick<TraceStore, 'checkpoints'>, query: CheckpointQuery, targetId: string) {
  const newest = await store.checkpoints({ ...query, limit: query.limit + 1 });
  if (newest.length <= query.limit) return { checkpoints: newest, isCapped: false };
  const before = await store.checkpoints({ ...query, after: Buffer.from(targetId, 'hex') });
  return { checkpoints: [...newest, ...before], isCapped: before.length === query.limit };
}

function isWithin(of: Lineage, scope: Pick<CheckpointQuery, 'trace_group_id' | 'thread_id' | 'run_id'>): boolean {
  return [
    [scope.trace_group_id, of.group_id],
    [scope.thread_id, of.thread_id],
    [scope.run_id, of.run_id],
  ].every(([wanted, id]) => wanted === undefined || id === wanted);
}

function summaryOf(checkpoint: Checkpoint): ReplayCheckpoint {
  const { id, timestamp, provider, model, request_method, request_path, response_status } = checkpoint;
  const { total_tokens, latency_ms, created_at, lineage: place } = checkpoint;
  return {
    id,
    timestamp,
    provider,
    model,
    request_method,
    request_path,
    response_status,
    total_tokens,
    latency_ms,
    created_at,
    lineage: place,
  };
}

/** Leaves out what is undefined. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
