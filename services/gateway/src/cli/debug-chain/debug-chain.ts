import { lineage, traceSummary, type TraceDetail } from '@vitrine/traces/trace';
import { z } from 'zod';

const count = z.int().min(0);

/** A checkpoint in full. Headers are JSON text; without `--include-headers` and `--include-bodies` they and the bodies are absent. */
const chainCheckpoint = traceSummary.omit({ api_key_hash: true }).extend({
  /** Counts from 1. */
  step: z.int().min(1),
  lineage,
  metadata: z.record(z.string(), z.unknown()),
  request_headers: z.string().optional(),
  response_headers: z.string().optional(),
  request_body: z.string().optional(),
  response_body: z.string().optional(),
});
export type ChainCheckpoint = z.infer<typeof chainCheckpoint>;

/** Fields of a trace whose change is shown. */
export const DIFF_FIELDS = ['provider', 'model', 'request_method', 'request_path', 'response_status'] as const;
/** Parts of an exchange whose change and size are shown. */
export const DIFF_PARTS = ['request_headers', 'response_headers', 'request_body', 'response_body'] as const;
export const DIFF_TOKENS = ['input_tokens', 'output_tokens', 'total_tokens'] as const;

/** An object with a key for each name and suffix, in this order. */
export function keysOf<N extends string, S extends string, V>(
  names: readonly N[],
  suffixes: readonly S[],
  valueOf: (name: N, suffix: S) => V,
): Record<`${N}${S}`, V> {
  const entries = names.flatMap((name) => suffixes.map((suffix) => [`${name}${suffix}`, valueOf(name, suffix)]));
  return Object.fromEntries(entries) as Record<`${N}${S}`, V>;
}

/** The changes from one checkpoint to the next, without content. */
const checkpointDiff = z.strictObject({
  from_checkpoint_id: z.string(),
  to_checkpoint_id: z.string(),
  ...keysOf([...DIFF_FIELDS, ...DIFF_PARTS], ['_changed'], () => z.boolean()),
  ...keysOf(DIFF_TOKENS, ['_delta'], () => z.int()),
  latency_delta_ms: z.int(),
  estimated_cost_delta_usd: z.number(),
  ...keysOf(DIFF_PARTS, ['_bytes_from', '_bytes_to'], () => count),
  ...keysOf(['metadata_keys'], ['_added', '_removed', '_changed'], () => z.array(z.string()).optional()),
});
export type CheckpointDiff = z.infer<typeof checkpointDiff>;

/** The selected trace or conversation; without any field the newest trace. */
const chainSelection = z.strictObject({
  trace_id: z.string().optional(),
  trace_group_id: z.string().optional(),
  thread_id: z.string().optional(),
  run_id: z.string().optional(),
});
export type ChainSelection = z.infer<typeof chainSelection>;

const tenant = z.strictObject({ org_id: z.string(), workspace_id: z.string() });

const chainOptions = z.strictObject({
  limit: z.int().min(1).max(500),
  include_diff: z.boolean(),
  include_headers: z.boolean(),
  include_bodies: z.boolean(),
  /** The filter by tenant. */
  org_id: z.string().optional(),
  workspace_id: z.string().optional(),
});
export type ChainOptions = z.infer<typeof chainOptions>;

/** The JSON of `gateway debug --format json`. Its fields are those of the gateway that first had this command, extended by the tenant,
 *  and in each checkpoint by `outcome`, `usage_status` and `cost_status`. Spec: G18.4. */
export const debugChain = z.strictObject({
  schema_version: z.literal('debug-chain.v1'),
  generated_at: z.iso.datetime(),
  selection: chainSelection,
  options: chainOptions,
  /** The tenant of these traces: both are '' when the caller was unknown. */
  org_id: z.string(),
  workspace_id: z.string(),
  /** The first of the tenants that have traces with the same ids, which are not shown. */
  other_tenants: z.array(tenant),
  other_tenant_count: count,
  source_trace_id: z.string(),
  source_timestamp: z.iso.datetime(),
  source: chainCheckpoint,
  chain: z.strictObject({
    group_id: z.string().optional(),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
    target_checkpoint_id: z.string(),
    checkpoint_count: count,
    truncated: z.boolean(),
    checkpoints: z.array(chainCheckpoint),
    /** The id that all checkpoints of the chain share. */
    lineage_identifier: z.enum(['trace_group_id', 'thread_id', 'run_id', 'trace_id']),
  }),
  diffs: z.array(checkpointDiff).optional(),
});
export type DebugChain = z.infer<typeof debugChain>;

/** A trace as a checkpoint, with headers and bodies as the options say. */
export function chainCheckpointOf(trace: TraceDetail, step: number, options: ChainOptions): ChainCheckpoint {
  const { api_key_hash: _hash, trace_group_id: _group, request_headers, response_headers, ...rest } = trace;
  const { request_body, response_body, ...summary } = rest;
  return {
    step,
    ...summary,
    lineage: trace.lineage ?? { checkpoint_id: trace.id, immutable: true },
    ...(options.include_headers
      ? { request_headers: JSON.stringify(request_headers), response_headers: JSON.stringify(response_headers) }
      : {}),
    ...(options.include_bodies && request_body !== undefined ? { request_body } : {}),
    ...(options.include_bodies && response_body !== undefined ? { response_body } : {}),
  };
}
