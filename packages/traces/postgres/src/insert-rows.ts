import type { Transaction } from '@vitrine/postgres/transaction';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { TRACE_BODIES, TRACES } from './trace-columns.ts';

/** Inserts rows, and returns of each whether it was new. */
export type Insert = (transaction: Transaction, records: readonly TraceRecord[]) => Promise<boolean[]>;

export async function copyRows(transaction: Transaction, records: readonly TraceRecord[]): Promise<boolean[]> {
  await transaction.copyFrom(TRACES.copy, TRACES.copyText(records));
  await transaction.copyFrom(TRACE_BODIES.copy, TRACE_BODIES.copyText(records));
  return records.map(() => true);
}

export async function insertNewRows(transaction: Transaction, records: readonly TraceRecord[]): Promise<boolean[]> {
  const rows = await transaction.query<{ id: string }>(TRACES.insertNew, TRACES.columnsOf(records));
  const ids = new Set(rows.map(({ id }) => id.replaceAll('-', '')));
  // Of records with the same id the first is new.
  const isNew = records.map(({ id }) => ids.delete(Buffer.from(id).toString('hex')));
  await transaction.execute(TRACE_BODIES.insertNew, TRACE_BODIES.columnsOf(records.filter((_, at) => isNew[at])));
  return isNew;
}
