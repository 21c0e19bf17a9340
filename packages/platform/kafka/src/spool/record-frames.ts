import { crc32 } from 'node:zlib';
import type { KafkaRecord, RecordHeaders } from '../kafka-record.ts';

/** Length of the payload and its CRC-32, both 32 bits, little endian. */
const FRAME_HEADER_BYTES = 8;
/** Payload: flags, length of the key, length of the headers as JSON; then key, headers and value. */
const FIELDS_BYTES = 9;
const HAS_VALUE = 1;

interface SegmentContent {
  readonly records: readonly KafkaRecord[];
  /** Records with a wrong checksum, plus one for a torn or unreadable end. */
  readonly damaged: number;
}

/** The format of a record in a spool. */
export function encodeFrame({ key, value, headers }: KafkaRecord): Buffer {
  const keyBytes = Buffer.from(key);
  const headerBytes = headers === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(headers));
  const fields = Buffer.alloc(FRAME_HEADER_BYTES + FIELDS_BYTES);
  fields.writeUInt8(value === null ? 0 : HAS_VALUE, FRAME_HEADER_BYTES);
  fields.writeUInt32LE(keyBytes.length, FRAME_HEADER_BYTES + 1);
  fields.writeUInt32LE(headerBytes.length, FRAME_HEADER_BYTES + 5);
  const frame = Buffer.concat([fields, keyBytes, headerBytes, value ?? Buffer.alloc(0)]);
  frame.writeUInt32LE(frame.length - FRAME_HEADER_BYTES, 0);
  frame.writeUInt32LE(crc32(frame.subarray(FRAME_HEADER_BYTES)), 4);
  return frame;
}

/** Reads the complete records of a segment with any end. Skips a record with a wrong checksum. Stops at an impossible length, such as in a torn
 *  end. The records reference `bytes`. */
export function decodeFrames(bytes: Buffer): SegmentContent {
  const records: KafkaRecord[] = [];
  let damaged = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = at + FRAME_HEADER_BYTES <= bytes.length ? bytes.readUInt32LE(at) : 0;
    const end = at + FRAME_HEADER_BYTES + length;
    if (length < FIELDS_BYTES || end > bytes.length) return { records, damaged: damaged + 1 };
    const record = decodePayload(bytes.subarray(at + FRAME_HEADER_BYTES, end), bytes.readUInt32LE(at + 4));
    if (record === undefined) damaged += 1;
    else records.push(record);
    at = end;
  }
  return { records, damaged };
}

function decodePayload(payload: Buffer, checksum: number): KafkaRecord | undefined {
  if (crc32(payload) !== checksum) return undefined;
  const headersAt = FIELDS_BYTES + payload.readUInt32LE(1);
  const valueAt = headersAt + payload.readUInt32LE(5);
  const key = payload.subarray(FIELDS_BYTES, headersAt);
  const value = payload.readUInt8(0) === HAS_VALUE ? payload.subarray(valueAt) : null;
  if (valueAt === headersAt) return { key, value };
  return { key, value, headers: JSON.parse(payload.toString('utf8', headersAt, valueAt)) as RecordHeaders };
}
