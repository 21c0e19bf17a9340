import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createTraceIds } from '@vitrine/traces/trace-id';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { randomBytes } from 'node:crypto';
import { addSums } from './add-sums.ts';
import { copyRows } from './insert-rows.ts';

const createId = createTraceIds(randomBytes);
const ROLLED_BACK = new Error('a probe is rolled back');

/** Writes a trace and its sums as any other, and takes them back: rejects with the driver's error where traces cannot be written. Takes some
 *  milliseconds. */
export async function probeWrites(pool: PostgresPool): Promise<void> {
  const probe = pool.transaction(async (transaction) => {
    const [row] = await transaction.query<{ now: number }>('SELECT clock_timestamp() AS now');
    const records = [probeRecord(row?.now ?? 0)];
    await copyRows(transaction, records);
    await addSums(transaction, records);
    throw ROLLED_BACK;
  });
  await probe.catch((error: unknown) => {
    if (error !== ROLLED_BACK) throw error;
  });
}

/** Of a tenant that nobody is, so that no writer waits for its sums. */
function probeRecord(at: number): TraceRecord {
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
