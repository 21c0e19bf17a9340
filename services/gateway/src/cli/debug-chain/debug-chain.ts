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

/** The changes from one checkpoint to the next, without content. */
const checkpointDiff = z.strictObject({
  from_checkpoint_id: z.string(),
  to_checkpoint_id: z.string(),
  provider_changed: z.boolean(),
  model_changed: z.boolean(),
  request_method_changed: z.boolean(),
  request_path_changed: z.boolean(),
  response_status_changed: z.boolean(),
  input_tokens_delta: z.int(),
  output_tokens_delta: z.int(),
  total_tokens_delta: z.int(),
  latency_delta_ms: z.int(),
  estimated_cost_delta_usd: z.number(),
  request_headers_changed: z.boolean(),
  response_headers_changed: z.boolean(),
  request_body_changed: z.boolean(),
  response_body_changed: z.boolean(),
  request_headers_bytes_from: count,
  request_headers_bytes_to: count,
  response_headers_bytes_from: count,
  response_headers_bytes_to: count,
  request_body_bytes_from: count,
  request_body_bytes_to: count,
  response_body_bytes_from: count,
  response_body_bytes_to: count,
  metadata_keys_added: z.array(z.string()).optional(),
  metadata_keys_removed: z.array(z.string()).optional(),
  metadata_keys_changed: z.array(z.string()).optional(),
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
