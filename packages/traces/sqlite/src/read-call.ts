import type { MeasureTable } from './measure-table.ts';
import type { SqliteTraceReader } from './sqlite-trace-reader.ts';

/** The methods of the reader that its thread offers. */
export type ReadMethod = 'list' | 'get' | 'checkpoints' | 'ancestors' | 'measure';

/** A call of the thread that reads, and its arguments. */
export interface ReadCall {
  readonly method: ReadMethod;
  readonly args: readonly unknown[];
}

export function callReader(reader: SqliteTraceReader, { method, args }: ReadCall): unknown {
  return (reader[method] as (...args: readonly unknown[]) => unknown).apply(reader, [...args]);
}

/** The memory of a result that can be moved to another thread instead of being copied. */
export function buffersOf({ method }: ReadCall, result: unknown): ArrayBuffer[] {
  if (method !== 'measure' || result === undefined) return [];
  const { numbers, order } = result as MeasureTable;
  return [numbers.buffer, order.buffer];
}
