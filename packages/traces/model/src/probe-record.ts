import { randomBytes } from 'node:crypto';
import { createTraceIds } from './trace-id.ts';
import type { TraceRecord } from './trace-record.ts';

const createId = createTraceIds(randomBytes);

/** A trace that a store writes and rolls back to check that it can write. Its tenant belongs to nobody, so that no writer waits for its sums.
 *  `at`: milliseconds since the epoch. */
export function probeRecord(at: number): TraceRecord {
  return {
    id: createId(at),
    scope: { org_id: '', workspace_id: 'probe', gateway_key_id: '', role: '' },
    timestamp: at,
    created_at: at,
    provider: 'openai',
    model: '',
    request_method: 'POST',
    request_path: '/probe',
    response_status: 200,
    outcome: 'completed',
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    usage_status: 'missing',
    latency_ms: 0,
    time_to_first_token_us: 0,
    estimated_cost_usd: 0,
    cost_status: 'unpriced',
    lineage: {},
    request_headers: '',
    response_headers: '',
    metadata: '{}',
  };
}
