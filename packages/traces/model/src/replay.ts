import { z } from 'zod';
import { readAncestry } from './ancestry.ts';
import { orderCheckpoints } from './checkpoint-order.ts';
import type { Tenant } from './exchange-scope.ts';
import { LINEAGE_HEADERS } from './lineage-headers.ts';
import { traceId } from './field-schemas.ts';
import { lineage, traceDetail, traceSummary, type Checkpoint, type Lineage, type TraceDetail } from './trace.ts';
import { TRACE_ID } from './trace-id.ts';
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

/** A conversation up to one of its checkpoints. Spec: G6.8, G6.9. */
export const replay = z
  .strictObject({
    source_trace_id: traceId,
    target_checkpoint_id: traceId,
    lineage: lineage.describe('Lineage of the target; missing parts are those of the source, or as requested.'),
    checkpoints: z
      .array(replayCheckpoint)
      .describe('From the root to the target: the checkpoints before the fork, then those of the run.'),
    truncated: z.boolean().describe('Whether there are checkpoints before the target that limit left out.'),
    target_trace: traceDetail,
  })
  .meta({ id: 'Replay', description: 'A conversation up to one of its checkpoints.' });
export type Replay = z.infer<typeof replay>;

interface ReplayRequest {
  readonly source: TraceDetail;
  readonly target: TraceDetail;
  /** Overrides the source's. */
  readonly threadId: string | undefined;
  readonly runId: string | undefined;
  readonly tenant: Tenant | undefined;
  /** 1 to 500 checkpoints. */
  readonly limit: number;
}

type Store = Pick<TraceStore, 'checkpoints' | 'ancestors'>;
type Scope = Pick<CheckpointQuery, 'trace_group_id' | 'thread_id' | 'run_id'>;

/** Checkpoints in order from the root to the target. */
interface History {
  readonly checkpoints: readonly Checkpoint[];
  readonly truncated: boolean;
}

/** Replays the conversation of `source` up to `target`: the ancestors of its run, back to the root, and the run. Undefined when the target does
 *  not belong to it. A source without lineage is a conversation of its own. Reads at most twice `limit` checkpoints of the run, and as many
 *  ancestors as are still missing. Spec: G6.10, G6.11. */
export async function readReplay(store: Store, request: ReplayRequest): Promise<Replay | undefined> {
  const { source, target } = request;
  const own = lineageOf(source);
  const scope = {
    ...conversationOf(source),
    ...given({ thread_id: request.threadId, run_id: request.runId }),
  };
  const isOwn = target.id === source.id || isWithin(lineageOf(target), scope);
  const history = isOwn ? await readHistory(store, request, target, scope) : await readRoadTo(store, request, scope);
  if (history === undefined) return undefined;
  return {
    source_trace_id: source.id,
    target_checkpoint_id: target.id,
    lineage: {
      ...given({ group_id: own.group_id, thread_id: scope.thread_id, run_id: scope.run_id }),
      ...lineageOf(target),
    },
    checkpoints: history.checkpoints.map(summaryOf),
    truncated: history.truncated,
    target_trace: target,
  };
}

/** The lineage of a trace. A trace without lineage is a conversation of its own. */
export function lineageOf(trace: TraceDetail): Lineage {
  return trace.lineage ?? { checkpoint_id: trace.id, immutable: true };
}

/** The ids that define the conversation of a trace. A group not named by its client is ignored. */
export function conversationOf(trace: TraceDetail): Scope {
  const { thread_id, run_id } = lineageOf(trace);
  return given({ trace_group_id: namedGroupOf(trace), thread_id, run_id });
}

/** The group of a trace if its client named it, and the gateway did not take it from an OpenTelemetry trace. Traces before schema 4 do not record
 *  this, but have the header. */
export function namedGroupOf(trace: TraceDetail): string | undefined {
  const { group_id: group } = lineageOf(trace);
  if (group === undefined || !TRACE_ID.test(group)) return group;
  const source = trace.metadata['lineage_group_source'];
  const isNamed = source === undefined ? GROUP_HEADER in trace.request_headers : source === 'client';
  return isNamed ? group : undefined;
}

/** The checkpoint of a trace. */
export function checkpointOf(trace: TraceDetail): Checkpoint {
  return { ...trace, lineage: lineageOf(trace), namedGroup: namedGroupOf(trace) };
}

/** The ancestors of a run's checkpoints followed by the checkpoints, a parent before its children. */
export function withAncestors(ancestors: readonly Checkpoint[], run: readonly Checkpoint[]): readonly Checkpoint[] {
  const own = new Set(run.map(({ id }) => id));
  // A run that continues after another has forked from it may have an ancestor between its own checkpoints.
  const isBetween = ancestors.some(({ lineage: { parent_checkpoint_id: parent = '' } }) => own.has(parent));
  const all = [...ancestors, ...run];
  return isBetween ? orderCheckpoints(all) : all;
}

const GROUP_HEADER = LINEAGE_HEADERS.trace_group_id.toLowerCase();
const REPLAYED = Object.keys(replayCheckpoint.shape) as (keyof ReplayCheckpoint)[];
const NOTHING = { checkpoints: [], isCapped: false };
/** How far the path to a checkpoint outside the run is followed. */
const ROAD_MAX = 500;

/** The conversation of `scope` up to `trace`, which is in it. */
async function readHistory(
  store: Store,
  { tenant, limit }: Pick<ReplayRequest, 'tenant' | 'limit'>,
  trace: TraceDetail,
  scope: Scope,
): Promise<History> {
  const target = checkpointOf(trace);
  const isAlone = Object.values(scope).every((id) => id === undefined);
  const read = isAlone ? NOTHING : await readCheckpoints(store, { ...scope, tenant, limit }, target.id);
  const all = new Map([...read.checkpoints, target].map((checkpoint) => [checkpoint.id, checkpoint]));
  const ordered = orderCheckpoints([...all.values()]);
  const run = ordered.slice(0, ordered.indexOf(target) + 1);
  if (read.isCapped || run.length > limit) return { checkpoints: run.slice(-limit), truncated: true };
  const ancestry = await readAncestry(store, { run, target, tenant, limit: limit - run.length });
  const checkpoints = withAncestors(ancestry.checkpoints, run);
  // In a cycle of parents an ancestor may come after it.
  return { checkpoints: checkpoints.slice(0, checkpoints.indexOf(target) + 1), truncated: ancestry.isCut };
}

/** The conversation up to a target that is not in the source's run, but among its ancestors. */
async function readRoadTo(store: Store, request: ReplayRequest, scope: Scope): Promise<History | undefined> {
  const { source, target, tenant, limit } = request;
  // Another run was requested that does not contain the target.
  if (request.threadId !== undefined || request.runId !== undefined) return undefined;
  const { checkpoints, truncated } = await readHistory(store, { tenant, limit: ROAD_MAX }, source, scope);
  const end = checkpoints.findIndex(({ id }) => id === target.id) + 1;
  return end === 0 ? undefined : { checkpoints: checkpoints.slice(0, end).slice(-limit), truncated: truncated || end > limit };
}

/** The newest checkpoints and, if there are more, the newest before the target. The target may be older than all of them, and checkpoints numbered
 *  before it may be newer. */
async function readCheckpoints(store: Pick<TraceStore, 'checkpoints'>, query: CheckpointQuery, targetId: string) {
  const newest = await store.checkpoints({ ...query, limit: query.limit + 1 });
  if (newest.length <= query.limit) return { checkpoints: newest, isCapped: false };
  const before = await store.checkpoints({ ...query, after: Buffer.from(targetId, 'hex') });
  return { checkpoints: [...newest, ...before], isCapped: before.length === query.limit };
}

function isWithin(of: Lineage, scope: Scope): boolean {
  return [
    [scope.trace_group_id, of.group_id],
    [scope.thread_id, of.thread_id],
    [scope.run_id, of.run_id],
  ].every(([wanted, id]) => wanted === undefined || id === wanted);
}

function summaryOf(checkpoint: Checkpoint): ReplayCheckpoint {
  return Object.fromEntries(REPLAYED.map((name) => [name, checkpoint[name]])) as ReplayCheckpoint;
}

/** Omits undefined values. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
