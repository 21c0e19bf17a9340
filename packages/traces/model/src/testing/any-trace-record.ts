import fc from 'fast-check';
import { BACKGROUND_ROLES, COST_STATUSES, OUTCOMES, PROVIDERS, USAGE_STATUSES } from '../trace-values.ts';
import type { TraceRecord } from '../trace-record.ts';

/** Often with characters that the codec encodes specially. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', '"', '\n', '\r', '\t', '\x1c', '\x1e', '\ud800') }),
);
const id = fc.string({ unit: 'grapheme' });
const count = fc.maxSafeNat();
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((made) => new Uint8Array(made));

/** Every field of a record. A missing one does not compile. */
const fields: { readonly [Field in keyof Required<TraceRecord>]: fc.Arbitrary<TraceRecord[Field]> } = {
  id: bytes(16),
  scope: fc.record({ org_id: id, workspace_id: id, gateway_key_id: id, role: id }),
  timestamp: count,
  created_at: count,
  provider: fc.constantFrom(...PROVIDERS),
  model: text,
  request_method: text,
  request_path: text,
  response_status: fc.integer({ min: 100, max: 599 }),
  outcome: fc.constantFrom(...OUTCOMES),
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  usage_status: fc.constantFrom(...USAGE_STATUSES),
  latency_ms: count,
  time_to_first_token_us: count,
  api_key_hash: fc.option(bytes(32), { nil: undefined }),
  estimated_cost_usd: fc.double({ min: 0, max: 1e9, noNaN: true }),
  cost_status: fc.constantFrom(...COST_STATUSES),
  lineage: fc.record(
    {
      group_fallback: fc.boolean(),
      trace_group_id: id,
      thread_id: id,
      run_id: id,
      parent_checkpoint_id: id,
      checkpoint_seq: count,
    },
    { requiredKeys: [] },
  ),
  request_headers: text,
  response_headers: text,
  request_body: fc.option(text, { nil: undefined }),
  response_body: fc.option(text, { nil: undefined }),
  metadata: text,
  background: fc.option(
    fc.record({
      role: fc.constantFrom(...BACKGROUND_ROLES),
      response: bytes(32).map((hash) => Buffer.from(hash).toString('hex')),
    }),
    { nil: undefined },
  ),
};

/** Any record that a derivation could make. */
export const anyTraceRecord: fc.Arbitrary<TraceRecord> = fc.record(fields);
