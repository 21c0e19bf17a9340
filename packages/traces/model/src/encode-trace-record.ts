import { TEXT_NAMES, TEXT_START, inOneLine, isPlainText } from './record-texts.ts';
import { RECORD_VERSION } from './trace-fields.ts';
import type { TraceRecord } from './trace-record.ts';

// Separate from decoding, which uses zod, because the derivation thread only encodes and does not load zod.

/** A record as it is sent to another process or kept in a spool, in one line: JSON with bytes as hex, followed by its longest texts, which `texts`
 *  of the JSON lists in order. */
export function encodeTraceRecord(record: TraceRecord): string {
  const { api_key_hash: hash } = record;
  const texts = TEXT_NAMES.filter((name) => record[name] !== undefined && isPlainText(record[name]));
  const head = {
    version: RECORD_VERSION,
    ...record,
    id: hex(record.id),
    api_key_hash: hash && hex(hash),
    ...Object.fromEntries(texts.map((name) => [name, undefined])),
    texts,
  };
  return JSON.stringify(head) + inOneLine(texts.map((name) => `${TEXT_START}${record[name]}`).join(''));
}

function hex({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex');
}
