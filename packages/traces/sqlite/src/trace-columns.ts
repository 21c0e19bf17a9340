import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { StoredLineage, StoredSummary } from '@vitrine/traces/stored-trace';
import { TRACE_COLUMNS, type ColumnValue, type TraceColumn } from '@vitrine/traces/trace-columns';
import type { FieldKind } from '@vitrine/traces/trace-fields';

const TYPES: Readonly<Record<FieldKind, 'TEXT' | 'INTEGER' | 'REAL'>> = {
  id: 'TEXT',
  time: 'INTEGER',
  text: 'TEXT',
  count: 'INTEGER',
  status: 'INTEGER',
  hash: 'TEXT',
  usd: 'REAL',
  boolean: 'INTEGER',
};

export function columnType({ kind, optional }: TraceColumn): string {
  return optional === true ? TYPES[kind] : `${TYPES[kind]} NOT NULL`;
}

export function inputOf(value: ColumnValue): SQLInputValue {
  if (value instanceof Uint8Array) return hexOf(value);
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

export function hexOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
}

/** A row of `traces`. */
export type TraceRow = StoredSummary & ExchangeScope & StoredLineage;

const BOOLEANS = TRACE_COLUMNS.filter(({ kind }) => kind === 'boolean').map(({ name }) => name);

/** A row as SQLite returns it, which has no booleans. */
export function traceRowOf(row: Readonly<Record<string, SQLOutputValue>>): TraceRow {
  const booleans = BOOLEANS.map((name) => [name, row[name] === null ? null : row[name] === 1]);
  return { ...row, ...Object.fromEntries(booleans) } as TraceRow;
}
