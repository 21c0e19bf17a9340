import type { KafkaRecord } from '@vitrine/kafka/kafka-record';
import { encodeTraceRecord } from '@vitrine/traces/encode-trace-record';
import type { TraceRecord } from '@vitrine/traces/trace-record';

/** The key is the trace's id, by which what is published again is found to be the same. */
export function publishedRecord(record: TraceRecord): KafkaRecord {
  return { key: Buffer.from(record.id).toString('hex'), value: Buffer.from(encodeTraceRecord(record)) };
}

/** A record without its bodies, marked as the capture marks what it cut. Undefined when it has none. */
export function withoutBodies(record: TraceRecord): TraceRecord | undefined {
  const { request_body: request, response_body: response, metadata } = record;
  if ((request ?? '') === '' && (response ?? '') === '') return undefined;
  const marks = {
    ...(JSON.parse(metadata) as object),
    ...(request !== undefined && { request_body_truncated: true }),
    ...(response !== undefined && { response_body_truncated: true }),
  };
  return {
    ...record,
    request_body: request === undefined ? undefined : '',
    response_body: response === undefined ? undefined : '',
    metadata: JSON.stringify(marks),
  };
}
