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
import { BODY_COLUMNS, columnList, TRACE_COLUMNS } from './trace-columns.ts';

const SCOPE: readonly string[] = ['org_id', 'workspace_id', 'gateway_key_id', 'role'] satisfies (keyof ExchangeScope)[];
const LINEAGE: readonly string[] = [
  'trace_group_id',
  'group_fallback',
  'thread_id',
  'run_id',
  'parent_checkpoint_id',
  'checkpoint_seq',
] satisfies (keyof StoredLineage)[];
const NAMES = Object.keys(TRACE_COLUMNS);
const SUMMARY = NAMES.filter((name) => !SCOPE.includes(name) && !LINEAGE.includes(name));
const BODY = Object.keys(BODY_COLUMNS).filter((name) => !NAMES.includes(name));
/** What a list shows. */
export const LIST_COLUMNS: string = columnList(SUMMARY);
export const CHECKPOINT_COLUMNS: string = columnList([...SUMMARY, ...LINEAGE]);
export const DETAIL_COLUMNS: string = columnList([...NAMES, ...BODY]);

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
