import { TEXT_NAMES, TEXT_START, inOneLine, isPlainText } from './record-texts.ts';
import type { TraceRecord } from './trace-record.ts';

// Apart from decoding, which checks records with zod: the thread that derives records encodes them and loads no zod.

/** Goes up with every field that is added. A reader takes the versions before its own, whose golden files it is tested with, and the next,
 *  of which it leaves out what it does not know. A change that such a reader would misunderstand has to skip a version, as 2 was. */
export const RECORD_VERSION = 3;

/** A record as it is sent to another process or kept in a spool, in one line: JSON with bytes as hex, and after it its longest texts,
 *  which `texts` of the JSON names in their order. */
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
