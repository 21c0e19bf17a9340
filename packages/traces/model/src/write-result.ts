import {
  isFailure,
  isKept,
  type ClassifiedError,
  type RecordFailure,
  type RecordResult,
  type WriteOperation,
} from './record-writer.ts';
import type { WriteError } from './write-error.ts';

export interface WriteFailure extends ClassifiedError {
  readonly operation: WriteOperation;
  readonly count: number;
  /** The first error of the class in the batch. */
  readonly error: WriteError;
}

/** The result of one batch. */
export interface WriteResult {
  /** Including records that were already stored. */
  readonly written: number;
  readonly failures: readonly WriteFailure[];
}

/** A record without a result may be lost, and counts as lost. */
const NO_RESULT: RecordFailure = {
  operation: 'write_trace',
  error_class: 'unknown',
  error: { name: 'Error', message: 'the writer reported no result for the record', code: '' },
};

/** Adds up the results of the `count` records of a batch, with failures by operation and class. */
export function writeResultOf(results: readonly (RecordResult | undefined)[], count: number): WriteResult {
  const failures = new Map<string, WriteFailure>();
  let written = 0;
  for (let at = 0; at < count; at += 1) {
    const result = results[at];
    if (isKept(result)) {
      written += 1;
      continue;
    }
    const failure = isFailure(result) ? result : NO_RESULT;
    const kind = `${failure.operation} ${failure.error_class}`;
    const before = failures.get(kind) ?? { ...failure, count: 0 };
    failures.set(kind, { ...before, count: before.count + 1 });
  }
  return { written, failures: [...failures.values()] };
}

/** The result of a batch of which nothing was kept. */
export function allLost(count: number, error: WriteError): WriteResult {
  return { written: 0, failures: [{ operation: 'write_trace', error_class: 'unknown', count, error }] };
}
