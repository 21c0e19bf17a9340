import { invariant } from '@vitrine/faults/invariant';
import { readVarint, varintLength, writeVarint } from './varint.ts';

/** How a field's value is encoded. Source: protobuf, Encoding. */
export const WIRE_TYPES = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** The message with every length-delimited field of number `field` replaced by the result of `rewrite`; the rest is copied. */
export function rewriteFields(message: Uint8Array, field: number, rewrite: (value: Uint8Array) => Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  let copied = 0;
  while (at < message.length) {
    const start = at;
    const [tag, afterTag] = readVarint(message, at);
    const wireType = tag & 7;
    if (wireType !== WIRE_TYPES.bytes) {
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
  const tag = (field << 3) | WIRE_TYPES.bytes;
  const head = Buffer.alloc(varintLength(tag) + varintLength(length));
  writeVarint(head, writeVarint(head, 0, tag), length);
  return head;
}

function skip(message: Uint8Array, at: number, wireType: number): number {
  if (wireType === WIRE_TYPES.fixed64) return at + 8;
  if (wireType === WIRE_TYPES.fixed32) return at + 4;
  invariant(wireType === WIRE_TYPES.varint, 'a protobuf field has a known wire type');
  let next = at;
  while ((message[next] ?? 0) >= 0x80) next += 1;
  return next + 1;
}
