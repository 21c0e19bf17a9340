import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { checkpointOf, traceDetailOf, type StoredLineage, type StoredPayload } from '@vitrine/traces/stored-trace';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import type { Checkpoint, TraceDetail, TraceSummary } from '@vitrine/traces/trace';
import { roundUsd } from '@vitrine/traces/usd';
import { wholeMs } from '@vitrine/traces/whole-ms';

const SUMMARY_COLUMNS =
  'id, created_at, "timestamp", provider, model, request_method, request_path, response_status, outcome, input_tokens, output_tokens, ' +
  'total_tokens, usage_status, latency_ms, time_to_first_token_us, api_key_hash, estimated_cost_usd, cost_status';
const LINEAGE_COLUMNS = 'trace_group_id, group_fallback, thread_id, run_id, parent_checkpoint_id, checkpoint_seq';
/** What a list shows. */
export const LIST_COLUMNS: string = SUMMARY_COLUMNS;
export const CHECKPOINT_COLUMNS: string = `${SUMMARY_COLUMNS}, ${LINEAGE_COLUMNS}`;
export const DETAIL_COLUMNS: string =
  `${CHECKPOINT_COLUMNS}, org_id, workspace_id, gateway_key_id, role, ` +
  'request_headers, response_headers, request_body, response_body, metadata';

export type SummaryRow = Omit<TraceRecord, 'id' | 'scope' | 'api_key_hash' | 'estimated_cost_usd' | 'lineage'> & {
  readonly id: string;
  readonly api_key_hash: Buffer | null;
  readonly estimated_cost_usd: string;
};
export type CheckpointRow = SummaryRow & StoredLineage;
export type DetailRow = CheckpointRow & ExchangeScope & StoredPayload;

export function summaryIn(row: SummaryRow): TraceSummary {
  const { time_to_first_token_us: firstTokenUs, api_key_hash: hash } = row;
  return {
    id: row.id.replaceAll('-', ''),
    timestamp: new Date(row.timestamp).toISOString(),
    created_at: new Date(row.created_at).toISOString(),
    provider: row.provider,
    model: row.model,
    request_method: row.request_method,
    request_path: row.request_path,
    response_status: row.response_status,
    outcome: row.outcome,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    total_tokens: row.total_tokens,
    usage_status: row.usage_status,
    latency_ms: row.latency_ms,
    time_to_first_token_ms: wholeMs(firstTokenUs),
    time_to_first_token_us: firstTokenUs,
    ...(hash === null ? {} : { api_key_hash: hash.toString('hex') }),
    estimated_cost_usd: roundUsd(Number(row.estimated_cost_usd)),
    cost_status: row.cost_status,
  };
}

export function checkpointIn(row: CheckpointRow): Checkpoint {
  return checkpointOf(summaryIn(row), row);
}

export function detailIn(row: DetailRow): TraceDetail {
  return traceDetailOf(summaryIn(row), row, row, row);
}
