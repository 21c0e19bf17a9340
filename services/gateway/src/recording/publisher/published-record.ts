import type { KafkaRecord } from '@vitrine/kafka/kafka-record';
import { encodeTraceRecord } from '@vitrine/traces/encode-trace-record';
import type { TraceRecord } from '@vitrine/traces/trace-record';

/** The key is the trace's id, which identifies a trace that is published again. */
export function publishedRecord(record: TraceRecord): KafkaRecord {
  return { key: Buffer.from(record.id).toString('hex'), value: Buffer.from(encodeTraceRecord(record)) };
}

/** A record without its bodies, marked like a capture that was cut. Undefined when it has no bodies. */
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
