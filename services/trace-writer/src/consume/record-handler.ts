import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import type { HandlerResult, RecordHandler, RejectedRecord, ConsumedRecord } from '@vitrine/kafka/consume/consumed-record';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { isFailure, type RecordFailure, type RecordResult, type RecordWriter } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { isFault } from '@vitrine/faults/fault';
import { TOPIC_CHECK_HEADER } from '@vitrine/traces/topic-check';
import { decodeTraceRecord } from '@vitrine/traces/trace-record-codec';

/** SQLSTATE classes that a record cannot cause: a read-only standby, missing tables or rights, a full disk, a server that is stopping or damaged
 *  (PostgreSQL, Appendix A). */
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

/** Writes consumed records to the store in one transaction. Records that can never be written are rejected. When the store cannot accept any now,
 *  all are delivered again, and those written in the meantime count as duplicates. */
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

/** A topic's limit is 1 MiB unless an operator raised it; decoding takes memory of about four times a record's size. */
const MAX_RECORD_BYTES = 16_777_216;

/** Why a record is in the dead letter topic, beside the class of a failed write. */
export const DECODE_ERRORS = ['malformed_record', 'unknown_record_version', 'record_too_large'] as const;

interface DecodedRecords {
  readonly traces: readonly TraceRecord[];
  /** What each trace was read from. */
  readonly sources: readonly ConsumedRecord[];
  readonly rejected: readonly RejectedRecord[];
}

/** Decodes records; nothing is derived again. Checks of the topic are left out: they carry nothing. */
export function decodeRecords(records: readonly ConsumedRecord[]): DecodedRecords {
  const traces: TraceRecord[] = [];
  const sources: ConsumedRecord[] = [];
  const rejected: RejectedRecord[] = [];
  for (const record of records) {
    const { value } = record;
    if (value === null && record.headers[TOPIC_CHECK_HEADER] !== undefined) continue;
    try {
      if (value !== null && value.length > MAX_RECORD_BYTES) {
        const reason = `the record has ${value.length} bytes; at most ${MAX_RECORD_BYTES} are read`;
        rejected.push({ record, errorClass: 'record_too_large', reason });
        continue;
      }
      traces.push(decodeTraceRecord(value ?? new Uint8Array()));
      sources.push(record);
    } catch (error) {
      if (!isFault(error)) throw error;
      rejected.push({ record, errorClass: error.code, reason: error.say });
    }
  }
  return { traces, sources, rejected };
}
