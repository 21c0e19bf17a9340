import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import {
  checkpointOf,
  summaryOf,
  traceDetailOf,
  type StoredLineage,
  type StoredPayload,
  type StoredSummary,
} from '@vitrine/traces/stored-trace';
import type { Checkpoint, TraceDetail, TraceSummary } from '@vitrine/traces/trace';
import { roundUsd } from '@vitrine/traces/usd';

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

export type SummaryRow = Omit<StoredSummary, 'api_key_hash' | 'estimated_cost_usd'> & {
  readonly api_key_hash: Buffer | null;
  readonly estimated_cost_usd: string;
};
export type CheckpointRow = SummaryRow & StoredLineage;
export type DetailRow = CheckpointRow & ExchangeScope & StoredPayload;

export function summaryIn(row: SummaryRow): TraceSummary {
  return summaryOf({
    ...row,
    id: row.id.replaceAll('-', ''),
    api_key_hash: row.api_key_hash === null ? null : row.api_key_hash.toString('hex'),
    estimated_cost_usd: roundUsd(Number(row.estimated_cost_usd)),
  });
}

export function checkpointIn(row: CheckpointRow): Checkpoint {
  return checkpointOf(summaryIn(row), row);
}

export function detailIn(row: DetailRow): TraceDetail {
  return traceDetailOf(summaryIn(row), row, row, row);
}
