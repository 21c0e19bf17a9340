/** Bytes of a varint; `value`: a whole number below 2^32. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) length += 1;
  return length;
}

/** Writes a whole number below 2^32 into `target` at `at`; returns where it ends. */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let next = at;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) target[next++] = (rest & 0x7f) | 0x80;
  target[next++] = rest;
  return next;
}

/** Reads a varint of 32 bits at most: lengths and tags. */
export function readVarint(message: Uint8Array, at: number): [value: number, next: number] {
  let value = 0;
  for (let shift = 0, next = at; shift < 35; shift += 7, next += 1) {
    const byte = message[next] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [value >>> 0, next + 1];
  }
  throw new Error('a protobuf length is longer than 32 bits');
}
