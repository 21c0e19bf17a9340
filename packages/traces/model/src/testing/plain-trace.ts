import { DEFAULT_SCOPE } from '../exchange-scope.ts';
import { createTraceIds } from '../trace-id.ts';
import type { TraceRecord } from '../trace-record.ts';

let made = 0;
/** The same ids each time, in a test file. */
const createId = createTraceIds((count) => {
  const bytes = new Uint8Array(count);
  new DataView(bytes.buffer).setUint32(count - 4, (made += 1));
  return bytes;
});

/** An ordinary trace, overridden by `fields`. */
export function plainTrace(createdAt: number, fields: Partial<TraceRecord> = {}): TraceRecord {
  return {
    id: createId(createdAt),
    scope: DEFAULT_SCOPE,
    timestamp: createdAt - 10,
    created_at: createdAt,
    provider: 'openai',
    model: 'gpt-4o',
    request_method: 'POST',
    request_path: '/openai/v1/chat/completions',
    response_status: 200,
    outcome: 'completed',
    input_tokens: 1,
    output_tokens: 2,
    total_tokens: 3,
    usage_status: 'reported',
    latency_ms: 10,
    time_to_first_token_us: 0,
    api_key_hash: undefined,
    estimated_cost_usd: 0.5,
    cost_status: 'priced',
    lineage: {},
    request_headers: 'A\n1',
    response_headers: '',
    request_body: undefined,
    response_body: undefined,
    metadata: '{}',
    ...fields,
  };
}
