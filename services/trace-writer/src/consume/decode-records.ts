import { isFault } from '@vitrine/faults/fault';
import type { ConsumedRecord, RejectedRecord } from '@vitrine/kafka/consume/consumed-record';
import { TOPIC_CHECK_HEADER } from '@vitrine/traces/topic-check';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { decodeTraceRecord } from '@vitrine/traces/trace-record-codec';

/** A topic's limit is 1 MiB unless an operator raised it; decoding takes memory of about four times a record's size. */
const MAX_RECORD_BYTES = 16_777_216;

/** Why a record is in the dead letter topic, other than the class of a failed write. */
export const DECODE_ERRORS = ['malformed_record', 'unknown_record_version', 'record_too_large'] as const;

interface DecodedRecords {
  readonly traces: readonly TraceRecord[];
  /** The record of each trace. */
  readonly sources: readonly ConsumedRecord[];
  readonly rejected: readonly RejectedRecord[];
}

/** Decodes records without deriving anything again. Skips the empty records that check the topic. */
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
