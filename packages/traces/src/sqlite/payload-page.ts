import type { TraceRecord } from '../trace-record.ts';

/** What only one trace's page shows. */
export type Payload = Pick<TraceRecord, 'request_headers' | 'response_headers' | 'metadata' | 'request_body' | 'response_body'>;

const FIELDS = [
  'request_headers',
  'response_headers',
  'metadata',
  'request_body',
  'response_body',
] as const satisfies (keyof Payload)[];
const ABSENT = 0xffff_ffff;
/** Five lengths of four bytes each. */
const ENTRY_BYTES = FIELDS.length * 4;

/** Lays payloads out in one buffer: the entries' lengths first, so that one is found without reading the others. */
export function packPayloads(payloads: readonly Payload[]): Buffer {
  let most = payloads.length * ENTRY_BYTES;
  for (const payload of payloads) for (const field of FIELDS) most += 3 * (payload[field]?.length ?? 0);
  const page = Buffer.allocUnsafe(most);
  let entry = 0;
  let at = payloads.length * ENTRY_BYTES;
  for (const payload of payloads) {
    for (const field of FIELDS) {
      const text = payload[field];
      const length = text === undefined ? ABSENT : page.write(text, at);
      page.writeUInt32LE(length, entry);
      entry += 4;
      if (text !== undefined) at += length;
    }
  }
  return page.subarray(0, at);
}

/** The payload at `index` of a page of `count`. */
export function unpackPayload(page: Buffer, count: number, index: number): Payload {
  let at = count * ENTRY_BYTES;
  const lengthAt = (entry: number) => page.readUInt32LE(entry * 4);
  for (let entry = 0; entry < index * FIELDS.length; entry += 1) {
    const length = lengthAt(entry);
    if (length !== ABSENT) at += length;
  }
  const texts = FIELDS.map((_, field) => {
    const length = lengthAt(index * FIELDS.length + field);
    if (length === ABSENT) return undefined;
    at += length;
    return page.toString('utf8', at - length, at);
  });
  const [request_headers = '', response_headers = '', metadata = '{}', request_body, response_body] = texts;
  return { request_headers, response_headers, metadata, request_body, response_body };
}
