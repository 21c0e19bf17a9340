import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';
import { TEXT_START, readTexts } from './record-texts.ts';
import { RECORD_VERSION } from './trace-fields.ts';
import { traceRecord, type TraceRecord } from './trace-record.ts';

/** The version of the first release. */
export const OLDEST_RECORD_VERSION = 3;

const envelope = z.object({ version: z.int(), texts: z.array(z.string()).default([]) });

/** Decodes a record of `encodeTraceRecord` from this, an earlier or the next version. Faults: `unknown_record_version`, `malformed_record`;
 *  neither contains data of the record. */
export function decodeTraceRecord(bytes: Uint8Array): TraceRecord {
  const line = readUtf8(bytes);
  const end = line.indexOf(TEXT_START);
  const head = parseJson(end === -1 ? line : line.slice(0, end));
  const { data } = envelope.safeParse(head);
  if (data === undefined) throw new Fault('malformed_record', { say: 'the trace record is not a JSON object with a version' });
  const { version } = data;
  if (version < OLDEST_RECORD_VERSION || version > RECORD_VERSION + 1) {
    const say = `the trace record has version ${version}; this program reads ${OLDEST_RECORD_VERSION} to ${RECORD_VERSION + 1}`;
    throw new Fault('unknown_record_version', { say });
  }
  const texts = readTexts(end === -1 ? '' : line.slice(end), data.texts);
  if (texts === undefined) throw new Fault('malformed_record', { say: 'the trace record does not have the texts it names' });
  const read = traceRecord.safeParse({ ...(head as object), ...texts });
  if (!read.success) {
    const places = read.error.issues.map(({ path }) => path.join('.')).join(', ');
    throw new Fault('malformed_record', { say: `the trace record has missing or malformed fields: ${places}` });
  }
  return read.data;
}

/** Empty for bytes that are not UTF-8. */
function readUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '';
  }
}

/** Undefined for text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
