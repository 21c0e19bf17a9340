import { invariant } from '@vitrine/faults/invariant';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** The message with every length-delimited field of number `field` replaced by the result of `rewrite`; the rest is copied. */
export function rewriteFields(message: Uint8Array, field: number, rewrite: (value: Uint8Array) => Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  let copied = 0;
  while (at < message.length) {
    const start = at;
    const [tag, afterTag] = readVarint(message, at);
    const wireType = tag & 7;
    if (wireType !== BYTES) {
      at = skip(message, afterTag, wireType);
      continue;
    }
    const [length, begin] = readVarint(message, afterTag);
    at = begin + length;
    if (tag >>> 3 !== field) continue;
    parts.push(message.subarray(copied, start), bytesField(field, rewrite(message.subarray(begin, at))));
    copied = at;
  }
  invariant(at === message.length, 'a protobuf message ends with its last field');
  return Buffer.concat([...parts, message.subarray(copied)]);
}

export function bytesField(field: number, value: Uint8Array): Uint8Array {
  return Buffer.concat([fieldHead(field, value.length), value]);
}

/** Tag and length of a field of `length` bytes. */
export function fieldHead(field: number, length: number): Uint8Array {
  return Buffer.concat([varint((field << 3) | BYTES), varint(length)]);
}

export function doubleField(field: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint((field << 3) | FIXED64), bytes]);
}

export function fixed64Field(field: number, value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint((field << 3) | FIXED64), bytes]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

/** Lengths and tags only: 32 bits. */
function readVarint(message: Uint8Array, at: number): [value: number, next: number] {
  let value = 0;
  for (let shift = 0, next = at; shift < 35; shift += 7, next += 1) {
    const byte = message[next] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [value >>> 0, next + 1];
  }
  throw new Error('a protobuf length is longer than 32 bits');
}

function skip(message: Uint8Array, at: number, wireType: number): number {
  if (wireType === FIXED64) return at + 8;
  if (wireType === FIXED32) return at + 4;
  invariant(wireType === VARINT, 'a protobuf field has a known wire type');
  let next = at;
  while ((message[next] ?? 0) >= 0x80) next += 1;
  return next + 1;
}
