import type { TraceRecord } from './trace-record.ts';
import type { WriteError } from './write-error.ts';

/** Why a write failed, in the order the classes are tested. Spec: gateway, Metrics; decisions, section 4. */
export const FAILURE_CLASSES = ['timeout', 'connection', 'contention', 'constraint', 'unknown'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** `write_trace` is a batch of one, `write_batch_fallback` an item of a failed batch that was tried again by itself. */
export const WRITE_OPERATIONS = ['write_trace', 'write_batch_fallback'] as const;
export type WriteOperation = (typeof WRITE_OPERATIONS)[number];

/** Records in order. They are made while they are read, so that a writer which lets go of each at once keeps the collector idle; reading
 *  again makes them anew, with the same ids. Making one may throw: then that one is lost, and the next can still be read. */
export interface Batch<T> {
  readonly count: number;
  records(): Iterable<T, void>;
}
export type RecordBatch = Batch<TraceRecord>;

export interface ClassifiedError {
  readonly error_class: FailureClass;
  readonly error: WriteError;
}

export interface RecordFailure extends ClassifiedError {
  readonly operation: WriteOperation;
}

/** What became of a record; `already_there` when one with its id was written before. */
export type RecordResult = 'written' | 'already_there' | RecordFailure;

/** Where records go from derivation: a store, or a broker before it. */
export interface RecordWriter {
  /** The results stand in the order of the records. Throws only when none was kept. */
  write(batch: RecordBatch): readonly RecordResult[] | Promise<readonly RecordResult[]>;
}

export function isKept(result: RecordResult | undefined): boolean {
  return result === 'written' || result === 'already_there';
}

/** Writes a batch at once; when that fails, its records one by one, so that one bad record costs one. One that fails because the store is
 *  busy ends this: the rest would each wait as long and fail the same way. */
export function writeWithFallback<T>(
  batch: Batch<T>,
  writeAll: (records: Iterable<T>) => 'written' | 'already_there',
  classify: (error: unknown) => ClassifiedError,
): RecordResult[] {
  const { count } = batch;
  if (count === 0) return [];
  try {
    return Array<RecordResult>(count).fill(writeAll(batch.records()));
  } catch (error) {
    if (count === 1) return [{ operation: 'write_trace', ...classify(error) }];
  }
  const results: RecordResult[] = [];
  const reading = batch.records()[Symbol.iterator]();
  while (results.length < count) {
    try {
      const read = reading.next();
      if (read.done === true) break;
      results.push(writeAll([read.value]));
    } catch (error) {
      const failure: RecordFailure = { operation: 'write_batch_fallback', ...classify(error) };
      results.push(failure);
      if (failure.error_class === 'contention') while (results.length < count) results.push(failure);
    }
  }
  return results;
}
