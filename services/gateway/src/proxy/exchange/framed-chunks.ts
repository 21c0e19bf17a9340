import { ASCII } from '@vitrine/trace-derivation/character-codes';

const { CR, LF } = ASCII;
/** The line ends of size and data. */
const LINE_ENDS_BYTES = 4;

/** The chunks of a body in the chunked coding, as one buffer. None may be empty: that would be the body's end. Source: RFC 9112, section 7.1. */
export function framedChunks(chunks: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const chunk of chunks) length += digitsOf(chunk.length) + chunk.length + LINE_ENDS_BYTES;
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const chunk of chunks) {
    at = endLine(bytes, writeSize(bytes, at, chunk.length));
    bytes.set(chunk, at);
    at = endLine(bytes, at + chunk.length);
  }
  return bytes;
}

/** In hexadecimal. Formatting it as a string takes longer than all the rest. */
function writeSize(bytes: Buffer, at: number, size: number): number {
  const end = at + digitsOf(size);
  for (let next = end - 1, left = size; next >= at; next -= 1, left >>>= 4) {
    const digit = left & 15;
    bytes[next] = digit < 10 ? digit + 0x30 : digit + 0x57;
  }
  return end;
}

function digitsOf(size: number): number {
  let digits = 1;
  for (let left = size >>> 4; left > 0; left >>>= 4) digits += 1;
  return digits;
}

function endLine(bytes: Buffer, at: number): number {
  bytes[at] = CR;
  bytes[at + 1] = LF;
  return at + 2;
}
