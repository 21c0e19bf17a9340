import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import type { HandlerResult, RecordHandler, RejectedRecord } from '@vitrine/kafka/consume/consumed-record';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { isFailure, type RecordFailure, type RecordResult, type RecordWriter } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { decodeRecords } from './decode-records.ts';

/**
 * SQLSTATE classes that a record cannot cause: a read-only standby, missing tables or rights, a full disk, a server that is stopping or
 * damaged (PostgreSQL, Appendix A).
 */
const SERVER_STATES = new Set(['25', '42', '53', '57', '58', 'XX']);

/** The result of one batch. Times are those of `performance.now()`. */
export interface WrittenBatch {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly batchSize: number;
  readonly written: number;
  /** Records already written by an earlier delivery. */
  readonly duplicates: number;
  readonly failures: readonly RecordFailure[];
}

/**
 * Writes consumed records to the store in one transaction. Records that can never be written are rejected. When the store cannot accept
 * any now, all are delivered again, and those written in the meantime count as duplicates.
 */
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
    // The error is not caused by the store, so a record causes it. The consumer halves the batch to find that record.
    if (!isTemporary(failure)) throw error;
    return end(traces.map(() => failure));
  }
}

function unavailable({ error_class: errorClass, error }: RecordFailure): HandlerResult {
  return { status: 'unavailable', errorClass, reason: `${errorClass}: ${error.message}` };
}

/** Whether the same record may be written later, because the failure is not caused by the record. */
function isTemporary({ error_class: errorClass, error }: Pick<RecordFailure, 'error_class' | 'error'>): boolean {
  if (errorClass === 'unknown') return error.code.length === 5 && SERVER_STATES.has(error.code.slice(0, 2));
  return errorClass !== 'constraint';
}

/** Converts an error of the writer to the failure of one record. */
function failureOf(error: unknown): RecordFailure {
  return { operation: 'write_trace', error_class: classifyPostgresError(error), error: writeErrorOf(error) };
}
