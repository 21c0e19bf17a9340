import type { TraceRecord } from './trace-record.ts';
import type { WriteError } from './write-error.ts';

/** Why a write failed, in the order the classes are tested. Spec: G12.6, G14.28. */
export const FAILURE_CLASSES = ['timeout', 'connection', 'contention', 'constraint', 'unknown'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** `write_trace` is a batch of one, `write_batch_fallback` an item of a failed batch that was tried again by itself. */
export const WRITE_OPERATIONS = ['write_trace', 'write_batch_fallback'] as const;
export type WriteOperation = (typeof WRITE_OPERATIONS)[number];

export interface ClassifiedError {
  readonly error_class: FailureClass;
  readonly error: WriteError;
}

export interface RecordFailure extends ClassifiedError {
  readonly operation: WriteOperation;
}

/** A record that was stored differently from its derivation, because it read back a background response; see `settledRecord`. */
interface SettledRecord {
  readonly settled: TraceRecord;
}

/** The result of writing a record; `already_there` if its id was already stored. */
export type RecordResult = 'written' | 'already_there' | SettledRecord | RecordFailure;

/** The target of derived records: a store, or a broker in front of it. */
export interface RecordWriter {
  /** The results are in the order of the records. Throws only when none was kept. */
  write(records: readonly TraceRecord[]): readonly RecordResult[] | Promise<readonly RecordResult[]>;
}

export function isFailure(result: RecordResult | undefined): result is RecordFailure {
  return typeof result === 'object' && 'error_class' in result;
}

export function isSettled(result: RecordResult | undefined): result is SettledRecord {
  return typeof result === 'object' && 'settled' in result;
}

export function isKept(result: RecordResult | undefined): boolean {
  return result === 'written' || result === 'already_there' || isSettled(result);
}

/** Writes records together, and one by one if that fails, so that a bad record affects no other. A failure because the store is busy ends this,
 *  because each of the rest would wait as long and fail the same way. */
export function writeWithFallback<T>(
  records: readonly T[],
  writeAll: (records: readonly T[]) => readonly RecordResult[],
  classify: (error: unknown) => ClassifiedError,
): readonly RecordResult[] {
  if (records.length === 0) return [];
  try {
    return writeAll(records);
  } catch (error) {
    if (records.length === 1) return [{ operation: 'write_trace', ...classify(error) }];
  }
  const results: RecordResult[] = [];
  for (const record of records) {
    try {
      results.push(...writeAll([record]));
    } catch (error) {
      const failure: RecordFailure = { operation: 'write_batch_fallback', ...classify(error) };
      if (failure.error_class === 'contention') return [...results, ...records.slice(results.length).map(() => failure)];
      results.push(failure);
    }
  }
  return results;
}
