import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';
import { RECORD_VERSION } from './encode-trace-record.ts';
import { traceRecord, type TraceRecord } from './trace-record.ts';

const envelope = z.object({ version: z.int() });

/** Reads what `encodeTraceRecord` wrote, here or in a neighbouring version. Faults: `unknown_record_version`, `malformed_record`; neither
 *  repeats anything of the record. */
export function decodeTraceRecord(bytes: Uint8Array): TraceRecord {
  const fields = parseJson(bytes);
  const { data } = envelope.safeParse(fields);
  if (data === undefined) throw new Fault('malformed_record', { say: 'the trace record is no JSON object with a version' });
  const { version } = data;
  if (Math.abs(version - RECORD_VERSION) > 1 || version < 1) {
    const say = `the trace record has version ${version}; this program reads ${Math.max(1, RECORD_VERSION - 1)} to ${RECORD_VERSION + 1}`;
    throw new Fault('unknown_record_version', { say });
  }
  const read = traceRecord.safeParse(fields);
  if (!read.success) {
    const places = read.error.issues.map(({ path }) => path.join('.')).join(', ');
    throw new Fault('malformed_record', { say: `the trace record has missing or malformed fields: ${places}` });
  }
  return read.data;
}

/** Undefined when it is none. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
