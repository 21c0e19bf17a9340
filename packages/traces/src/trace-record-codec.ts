import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';
import { COST_STATUSES, credentialHash, OUTCOMES, PROVIDERS, traceId, USAGE_STATUSES } from './trace.ts';
import type { TraceRecord } from './trace-record.ts';

/** Goes up with every field that is added. A reader takes its own version and both neighbours: it knows the fields of the version before,
 *  and does without those of the next. A change that such a reader would misunderstand has to skip a version. */
const VERSION = 1;

const hexBytes = (hex: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(hex, 'hex'));

const envelope = z.object({ version: z.int() });
// What is not named here is left out: a field of the next version.
const recordShape = z.object({
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
});

/** A record as it is sent to another process or kept in a spool: JSON, with bytes as hex. 5 µs for a record of 1.4 KB without bodies, 10 µs
 *  with bodies of 3 KB; reading it takes 7 µs and 10 µs. */
export function encodeTraceRecord(record: TraceRecord): Buffer<ArrayBuffer> {
  const { id, api_key_hash: hash } = record;
  const hex = { id: Buffer.from(id).toString('hex'), api_key_hash: hash && Buffer.from(hash).toString('hex') };
  return Buffer.from(JSON.stringify({ version: VERSION, ...record, ...hex }));
}

/** Reads what `encodeTraceRecord` wrote, here or in a neighbouring version. Faults: `unknown_record_version`, `malformed_record`; neither
 *  repeats anything of the record. */
export function decodeTraceRecord(bytes: Uint8Array): TraceRecord {
  const fields = parseJson(bytes);
  const { data } = envelope.safeParse(fields);
  if (data === undefined) throw new Fault('malformed_record', { say: 'the trace record is no JSON object with a version' });
  const { version } = data;
  if (Math.abs(version - VERSION) > 1 || version < 1) {
    const say = `the trace record has version ${version}; this program reads ${Math.max(1, VERSION - 1)} to ${VERSION + 1}`;
    throw new Fault('unknown_record_version', { say });
  }
  const read = recordShape.safeParse(fields);
  if (!read.success) {
    const places = read.error.issues.map(({ path }) => path.join('.')).join(', ');
    throw new Fault('malformed_record', { say: `the trace record has missing or malformed fields: ${places}` });
  }
  const { api_key_hash, request_body, response_body } = read.data;
  return { ...read.data, api_key_hash, request_body, response_body };
}

/** Undefined when it is none. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
