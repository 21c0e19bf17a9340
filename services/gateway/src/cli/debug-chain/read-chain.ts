import { Fault } from '@vitrine/faults/fault';
import { readAncestry } from '@vitrine/traces/ancestry';
import { orderCheckpoints } from '@vitrine/traces/checkpoint-order';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { checkpointOf, conversationOf, withAncestors } from '@vitrine/traces/replay';
import { tenantOf, type Checkpoint, type TraceDetail } from '@vitrine/traces/trace';
import type { TraceStore } from '@vitrine/traces/trace-store';
import type { OfflineTraces } from '../offline-traces/open-traces.ts';
import {
  chainCheckpointOf,
  type ChainCheckpoint,
  type ChainOptions,
  type ChainSelection,
  type CheckpointDiff,
  type DebugChain,
  DIFF_FIELDS,
  DIFF_PARTS,
  DIFF_TOKENS,
  keysOf,
} from './debug-chain.ts';
import { hasIds, MAX_NAMED_TENANTS, otherTenants, readSource, type LineageScope } from './read-source.ts';
import { roundUsd } from '@vitrine/traces/usd';
import { isDeepStrictEqual } from 'node:util';

/** Bodies of one chain. The chain becomes one string, whose length V8 bounds. */
const MAX_BODY_CHARACTERS = 128 * 1_048_576;

/** Reads the chain of the selected trace, of that trace's tenant only: other tenants may have the same ids. For a single trace it is the
 *  trace's conversation as a replay shows it, with the checkpoints that its run was forked from, and later ones. A chain longer than
 *  `limit` is cut to its newest part, or to the part that ends at the source when that is older.
 *  Faults: `trace_not_found`, `ambiguous_tenant`, `storage_unusable`, `chain_too_large`. */
export async function readChain(
  store: OfflineTraces,
  selection: ChainSelection,
  options: ChainOptions,
  now: Date,
): Promise<DebugChain> {
  const source = await readSource(store, selection, { org_id: options.org_id, workspace_id: options.workspace_id });
  const tenant = tenantOf(source);
  const { trace_id: _id, ...selected } = selection;
  const isSelected = hasIds(selected);
  const scope: LineageScope = isSelected ? selected : conversationOf(source);
  const others = await otherTenants(store, scope, tenant);
  const run = await readCheckpoints(store, source, { ...scope, tenant }, options.limit);
  const { checkpoints, truncated } = isSelected ? run : await addAncestors(store, source, run, options.limit);
  const { steps, diffs } = await readSteps(store, checkpoints, options);
  const step = steps.findIndex(({ id }) => id === source.id) + 1;
  const identifier = (['trace_group_id', 'thread_id', 'run_id'] as const).find((name) => scope[name] !== undefined);
  return {
    schema_version: 'debug-chain.v1',
    generated_at: now.toISOString(),
    selection,
    options,
    ...tenant,
    other_tenants: others.slice(0, MAX_NAMED_TENANTS),
    other_tenant_count: others.length,
    source_trace_id: source.id,
    source_timestamp: source.timestamp,
    source: chainCheckpointOf(source, step, options),
    chain: {
      group_id: scope.trace_group_id,
      thread_id: scope.thread_id,
      run_id: scope.run_id,
      target_checkpoint_id: source.id,
      checkpoint_count: steps.length,
      truncated,
      checkpoints: steps,
      lineage_identifier: identifier ?? 'trace_id',
    },
    diffs: options.include_diff ? diffs : undefined,
  };
}

/** Checkpoints in their order. */
interface Chain {
  readonly checkpoints: readonly Checkpoint[];
  readonly truncated: boolean;
}

async function readCheckpoints(
  store: Pick<TraceStore, 'checkpoints'>,
  source: TraceDetail,
  scope: LineageScope & { readonly tenant: Tenant },
  limit: number,
): Promise<Chain> {
  const own = checkpointOf(source);
  const { tenant: _tenant, ...ids } = scope;
  if (!hasIds(ids)) return { checkpoints: [own], truncated: false };
  const found = await store.checkpoints({ ...scope, limit: limit + 1 });
  const newest = found.slice(0, limit);
  const truncated = found.length > limit;
  if (newest.some(({ id }) => id === source.id)) return { checkpoints: orderCheckpoints(newest), truncated };
  const after = Buffer.from(source.id, 'hex');
  const before = limit === 1 ? [] : await store.checkpoints({ ...scope, limit: limit - 1, after });
  return { checkpoints: orderCheckpoints([own, ...before]), truncated: true };
}

/** Prepends the checkpoints that a run was forked from, if the run itself was not cut. */
async function addAncestors(
  store: Pick<TraceStore, 'checkpoints' | 'ancestors'>,
  source: TraceDetail,
  run: Chain,
  limit: number,
): Promise<Chain> {
  if (run.truncated) return run;
  const wanted = { run: run.checkpoints, tenant: tenantOf(source), limit: limit - run.checkpoints.length };
  const ancestry = await readAncestry(store, { ...wanted, target: checkpointOf(source) });
  return { checkpoints: withAncestors(ancestry.checkpoints, run.checkpoints), truncated: ancestry.isCut };
}

/** Reads traces one by one, so that unused headers and bodies do not stay in memory. */
async function readSteps(store: OfflineTraces, ordered: readonly Checkpoint[], options: ChainOptions) {
  const steps: ChainCheckpoint[] = [];
  const diffs: CheckpointDiff[] = [];
  let before: TraceDetail | undefined;
  let characters = 0;
  for (const { id } of ordered) {
    const trace = await store.get(id);
    // Retention may have removed it since the list was read.
    if (trace === undefined) continue;
    const step = chainCheckpointOf(trace, steps.length + 1, options);
    characters += (step.request_body?.length ?? 0) + (step.response_body?.length ?? 0);
    if (characters > MAX_BODY_CHARACTERS)
      throw new Fault('chain_too_large', { say: 'the bodies of this chain are too large to show at once: lower --limit' });
    if (before !== undefined) diffs.push(diffCheckpoints(before, trace));
    steps.push(step);
    before = trace;
  }
  return { steps, diffs };
}

/** The changes from one trace to the next: fields, sizes, and keys of the metadata. Bytes of headers are those of their JSON text, bytes
 *  of bodies those of the stored text. */
export function diffCheckpoints(from: TraceDetail, to: TraceDetail): CheckpointDiff {
  return {
    from_checkpoint_id: from.id,
    to_checkpoint_id: to.id,
    ...keysOf(DIFF_FIELDS, ['_changed'], (field) => from[field] !== to[field]),
    ...keysOf(DIFF_TOKENS, ['_delta'], (tokens) => to[tokens] - from[tokens]),
    latency_delta_ms: to.latency_ms - from.latency_ms,
    estimated_cost_delta_usd: roundUsd(to.estimated_cost_usd - from.estimated_cost_usd),
    ...keysOf(DIFF_PARTS, ['_changed'], (part) => textOf(from, part) !== textOf(to, part)),
    ...keysOf(DIFF_PARTS, ['_bytes_from', '_bytes_to'], (part, side) =>
      Buffer.byteLength(textOf(side === '_bytes_from' ? from : to, part) ?? ''),
    ),
    ...diffKeys(from.metadata, to.metadata),
  };
}

function textOf(trace: TraceDetail, part: (typeof DIFF_PARTS)[number]): string | undefined {
  const content = trace[part];
  return typeof content === 'object' ? JSON.stringify(content) : content;
}

function diffKeys(from: TraceDetail['metadata'], to: TraceDetail['metadata']) {
  const keys = {
    metadata_keys_added: Object.keys(to).filter((key) => !(key in from)),
    metadata_keys_removed: Object.keys(from).filter((key) => !(key in to)),
    metadata_keys_changed: Object.keys(from).filter((key) => key in to && !isDeepStrictEqual(from[key], to[key])),
  };
  return Object.fromEntries(
    Object.entries(keys).flatMap(([name, found]) => (found.length === 0 ? [] : [[name, found.toSorted()]])),
  );
}
