import type { HandlerResult, RecordHandler, RejectedRecord } from '@vitrine/kafka/consume/consumed-record';
import { isFailure, type RecordFailure, type RecordResult, type RecordWriter } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { decodeRecords } from './decode-records.ts';
import { failureOf, isTemporary } from './write-errors.ts';

/** What became of one batch. Times are those of `performance.now()`. */
export interface WrittenBatch {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly batchSize: number;
  readonly written: number;
  /** Those that an earlier delivery had written. */
  readonly duplicates: number;
  readonly failures: readonly RecordFailure[];
}

/** Writes consumed records to the store in one transaction. Those that can never be written are rejected; when the store cannot take any
 *  now, all are delivered again, and those that were written meanwhile are duplicates then. */
export function createRecordHandler(writer: RecordWriter, onBatch: (batch: WrittenBatch) => void): RecordHandler {
  return async (records) => {
    const { traces, sources, rejected } = decodeRecords(records);
    if (traces.length === 0) return { status: 'done', rejected };
    const results = await write(writer, traces, onBatch);
    const failures = results.map((result) => (isFailure(result) ? result : undefined));
    const temporary = failures.find((failure) => failure !== undefined && isTemporary(failure));
    if (temporary !== undefined) return unavailable(temporary);
    const refused = sources.flatMap((record, at): RejectedRecord[] => {
      const failure = failures[at];
      return failure === undefined ? [] : [{ record, errorClass: failure.error_class, reason: failure.error.message }];
    });
    return { status: 'done', rejected: [...rejected, ...refused] };
  };
}

async function write(writer: RecordWriter, traces: readonly TraceRecord[], onBatch: (batch: WrittenBatch) => void) {
  const startedAt = performance.now();
  const batchSize = traces.length;
  const end = (results: readonly RecordResult[]) => {
    const failures = results.filter(isFailure);
    const duplicates = results.filter((result) => result === 'already_there').length;
    const counts = { written: results.length - duplicates - failures.length, duplicates, failures };
    onBatch({ startedAt, endedAt: performance.now(), batchSize, ...counts });
    return results;
  };
  try {
    return end(await writer.write(traces));
  } catch (error) {
    const failure = failureOf(error);
    // What the store is not the cause of is a record's fault: the consumer halves the batch to find it.
    if (!isTemporary(failure)) throw error;
    return end(traces.map(() => failure));
  }
}

function unavailable({ error_class: errorClass, error }: RecordFailure): HandlerResult {
  return { status: 'unavailable', errorClass, reason: `${errorClass}: ${error.message}` };
}
