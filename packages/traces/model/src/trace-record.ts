import { z } from 'zod';
import { credentialHash, traceId } from './trace.ts';
import { BACKGROUND_ROLES, COST_STATUSES, OUTCOMES, PROVIDERS, USAGE_STATUSES } from './trace-values.ts';

const hexBytes = (hex: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(hex, 'hex'));

/** A trace as stores write it: the fields of the summary under their own names, times as milliseconds since the epoch, headers
 *  as redacted lines (see `header-lines.ts`), metadata as JSON text. A field that is not named here belongs to the next version and is
 *  ignored. */
export const traceRecord = z.object({
  id: traceId.transform(hexBytes),
  scope: z.object({ org_id: z.string(), workspace_id: z.string(), gateway_key_id: z.string(), role: z.string() }),
  timestamp: z.number(),
  created_at: z.number(),
  provider: z.enum(PROVIDERS),
  model: z.string(),
  request_method: z.string(),
  request_path: z.string(),
  response_status: z.number(),
  outcome: z.enum(OUTCOMES),
  input_tokens: z.number(),
  output_tokens: z.number(),
  total_tokens: z.number(),
  usage_status: z.enum(USAGE_STATUSES),
  latency_ms: z.number(),
  time_to_first_token_us: z.number(),
  /** SHA-256 of the provider credential. */
  api_key_hash: credentialHash.transform(hexBytes).optional(),
  estimated_cost_usd: z.number(),
  cost_status: z.enum(COST_STATUSES),
  lineage: z.object({
    group_fallback: z.boolean().exactOptional(),
    trace_group_id: z.string().exactOptional(),
    thread_id: z.string().exactOptional(),
    run_id: z.string().exactOptional(),
    parent_checkpoint_id: z.string().exactOptional(),
    checkpoint_seq: z.number().exactOptional(),
  }),
  request_headers: z.string(),
  response_headers: z.string(),
  request_body: z.string().optional(),
  response_body: z.string().optional(),
  metadata: z.string(),
  background: z.object({ role: z.enum(BACKGROUND_ROLES), response: z.string().regex(/^[0-9a-f]{64}$/) }).optional(),
});
export type TraceRecord = Readonly<z.output<typeof traceRecord>>;
/** A record that is written out: a field that is left out, also an optional one, does not compile. */
export type WholeTraceRecord = { readonly [Field in keyof Required<TraceRecord>]: TraceRecord[Field] };

/** The fields that only the page of one trace shows. Stores keep them in a separate table. */
export type BodyField = 'request_headers' | 'response_headers' | 'request_body' | 'response_body' | 'metadata';
/** All other fields with a column in stores; `background` has a separate table. */
export type TraceField =
  | Exclude<keyof TraceRecord, BodyField | 'scope' | 'lineage' | 'background'>
  | keyof TraceRecord['scope']
  | keyof TraceRecord['lineage'];
