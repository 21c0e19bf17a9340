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
import { BODY_COLUMNS, TRACE_COLUMNS } from '@vitrine/traces/trace-columns';
import { LINEAGE_FIELDS, RECORDED_FIELDS, type FieldKind, type TraceField } from '@vitrine/traces/trace-fields';
import { roundUsd } from '@vitrine/traces/usd';
import { columnList } from './trace-columns.ts';

const SUMMARY = Object.keys(RECORDED_FIELDS);
const ALL = [...TRACE_COLUMNS, ...BODY_COLUMNS].map(({ name }) => name);
/** What a list shows. */
export const LIST_COLUMNS: string = columnList(SUMMARY);
export const CHECKPOINT_COLUMNS: string = columnList([...SUMMARY, ...Object.keys(LINEAGE_FIELDS)]);
export const DETAIL_COLUMNS: string = columnList([...new Set(ALL)]);

export type SummaryRow = Readonly<Record<string, unknown>>;
export type CheckpointRow = SummaryRow & StoredLineage;
export type DetailRow = CheckpointRow & ExchangeScope & StoredPayload;

export function summaryIn(row: SummaryRow): TraceSummary {
  const stored = Object.entries<TraceField>(RECORDED_FIELDS).map(([name, { kind }]) => [name, storedOf(kind, row[name])]);
  return summaryOf(Object.fromEntries(stored) as StoredSummary);
}

/** A value of the driver in the form of `StoredSummary`. */
function storedOf(kind: FieldKind, value: unknown): unknown {
  if (value === null) return null;
  if (kind === 'id') return (value as string).replaceAll('-', '');
  if (kind === 'hash') return (value as Buffer).toString('hex');
  return kind === 'usd' ? roundUsd(Number(value)) : value;
}

export function checkpointIn(row: CheckpointRow): Checkpoint {
  return checkpointOf(summaryIn(row), row);
}

export function detailIn(row: DetailRow): TraceDetail {
  return traceDetailOf(summaryIn(row), row, row, row);
}
