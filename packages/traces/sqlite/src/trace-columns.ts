import type { SQLInputValue } from 'node:sqlite';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import {
  checkpointOf as storedCheckpoint,
  summaryOf,
  traceDetailOf,
  type StoredLineage,
  type StoredPayload,
  type StoredSummary,
} from '@vitrine/traces/stored-trace';
import type { Checkpoint, TraceDetail } from '@vitrine/traces/trace';
import type { BodyField, TraceField, TraceRecord } from '@vitrine/traces/trace-record';

export interface Column {
  readonly type: 'TEXT NOT NULL' | 'TEXT' | 'INTEGER NOT NULL' | 'INTEGER' | 'REAL NOT NULL';
  readonly of: (record: TraceRecord) => SQLInputValue;
}
export type Columns<Name extends string = string> = Readonly<Record<Name, Column>>;

/** Every field of a record. A missing one does not compile. `background` has a separate table. */
export const TRACE_COLUMNS: Columns<TraceField> = {
  id: { type: 'TEXT NOT NULL', of: ({ id }) => hexOf(id) },
  org_id: { type: 'TEXT NOT NULL', of: ({ scope }) => scope.org_id },
  workspace_id: { type: 'TEXT NOT NULL', of: ({ scope }) => scope.workspace_id },
  gateway_key_id: { type: 'TEXT NOT NULL', of: ({ scope }) => scope.gateway_key_id },
  role: { type: 'TEXT NOT NULL', of: ({ scope }) => scope.role },
  timestamp: { type: 'INTEGER NOT NULL', of: ({ timestamp }) => timestamp },
  created_at: { type: 'INTEGER NOT NULL', of: ({ created_at }) => created_at },
  provider: { type: 'TEXT NOT NULL', of: ({ provider }) => provider },
  model: { type: 'TEXT NOT NULL', of: ({ model }) => model },
  request_method: { type: 'TEXT NOT NULL', of: ({ request_method }) => request_method },
  request_path: { type: 'TEXT NOT NULL', of: ({ request_path }) => request_path },
  response_status: { type: 'INTEGER NOT NULL', of: ({ response_status }) => response_status },
  outcome: { type: 'TEXT NOT NULL', of: ({ outcome }) => outcome },
  input_tokens: { type: 'INTEGER NOT NULL', of: ({ input_tokens }) => input_tokens },
  output_tokens: { type: 'INTEGER NOT NULL', of: ({ output_tokens }) => output_tokens },
  total_tokens: { type: 'INTEGER NOT NULL', of: ({ total_tokens }) => total_tokens },
  usage_status: { type: 'TEXT NOT NULL', of: ({ usage_status }) => usage_status },
  latency_ms: { type: 'INTEGER NOT NULL', of: ({ latency_ms }) => latency_ms },
  time_to_first_token_us: { type: 'INTEGER NOT NULL', of: ({ time_to_first_token_us }) => time_to_first_token_us },
  api_key_hash: { type: 'TEXT', of: ({ api_key_hash }) => (api_key_hash === undefined ? null : hexOf(api_key_hash)) },
  estimated_cost_usd: { type: 'REAL NOT NULL', of: ({ estimated_cost_usd }) => estimated_cost_usd },
  cost_status: { type: 'TEXT NOT NULL', of: ({ cost_status }) => cost_status },
  trace_group_id: { type: 'TEXT', of: ({ lineage }) => lineage.trace_group_id ?? null },
  // Whether the group is only a label (`lineage-headers.ts`).
  group_fallback: { type: 'INTEGER', of: ({ lineage }) => booleanOf(lineage.group_fallback) },
  thread_id: { type: 'TEXT', of: ({ lineage }) => lineage.thread_id ?? null },
  run_id: { type: 'TEXT', of: ({ lineage }) => lineage.run_id ?? null },
  parent_checkpoint_id: { type: 'TEXT', of: ({ lineage }) => lineage.parent_checkpoint_id ?? null },
  checkpoint_seq: { type: 'INTEGER', of: ({ lineage }) => lineage.checkpoint_seq ?? null },
};

export const TRACE_BODY_COLUMNS: Columns<BodyField | 'id'> = {
  id: TRACE_COLUMNS.id,
  request_headers: { type: 'TEXT NOT NULL', of: ({ request_headers }) => request_headers },
  response_headers: { type: 'TEXT NOT NULL', of: ({ response_headers }) => response_headers },
  request_body: { type: 'TEXT', of: ({ request_body }) => request_body ?? null },
  response_body: { type: 'TEXT', of: ({ response_body }) => response_body ?? null },
  metadata: { type: 'TEXT NOT NULL', of: ({ metadata }) => metadata },
};

/** A row of `traces`. */
export type TraceRow = StoredSummary &
  ExchangeScope &
  Omit<StoredLineage, 'group_fallback'> & { readonly group_fallback: number | null };

export function hexOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
}

export function checkpointOf(row: TraceRow): Checkpoint {
  return storedCheckpoint(summaryOf(row), lineageOf(row));
}

export function detailOf(row: TraceRow, bodies: StoredPayload): TraceDetail {
  return traceDetailOf(summaryOf(row), lineageOf(row), row, bodies);
}

function lineageOf(row: TraceRow): StoredLineage {
  return { ...row, group_fallback: row.group_fallback === null ? null : row.group_fallback === 1 };
}

function booleanOf(value: boolean | undefined): number | null {
  return value === undefined ? null : Number(value);
}
