import { WIRE_TYPES } from './fields.ts';
import { varintLength, writeVarint } from './varint.ts';

/** Bytes of UTF-8 for one UTF-16 unit, at most. */
const UTF8_MAX = 3;
/** Bytes of a field without its text or bytes, at most: tag and length, or a tag and 64 bits. */
const FIELD_MAX = 16;
const FIRST_CAPACITY = 65_536;

/** Writes a protobuf message into a buffer that grows. */
export class ProtobufWriter {
  protected buffer = Buffer.alloc(FIRST_CAPACITY);
  protected view = viewOf(this.buffer);
  protected at = 0;

  /** The bytes written since the last call; they are valid until the next write. */
  take(): Buffer {
    const written = this.buffer.subarray(0, this.at);
    this.at = 0;
    return written;
  }

  /** Begins a message, whose length is not known yet. Returns where it begins, for `end`. `reserved`: bytes left free for the length; a
   *  message that needs another number of them is moved. */
  begin(field: number, reserved = 1): number {
    this.#tag(field, WIRE_TYPES.bytes);
    this.at += reserved;
    return this.at;
  }

  end(begin: number, reserved = 1): void {
    const length = this.at - begin;
    const moved = varintLength(length) - reserved;
    if (moved !== 0) {
      this.ensure(moved);
      this.buffer.copyWithin(begin + moved, begin, this.at);
      this.at += moved;
    }
    writeVarint(this.buffer, begin - reserved, length);
  }

  text(field: number, value: string): void {
    this.ensure(value.length * UTF8_MAX + FIELD_MAX);
    const begin = this.begin(field);
    const { buffer } = this;
    let at = begin;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        at = begin + buffer.write(value, begin, 'utf8');
        break;
      }
      buffer[at++] = code;
    }
    this.at = at;
    this.end(begin);
  }

  /** Bytes that are written in hexadecimal, in lower case. */
  hex(field: number, digits: string): void {
    const begin = this.begin(field);
    this.ensure(digits.length);
    this.at = writeHex(this.buffer, begin, digits);
    this.end(begin);
  }

  /** `value`: a whole number below 2^32. */
  number(field: number, value: number): void {
    this.#tag(field, WIRE_TYPES.varint);
    this.at = writeVarint(this.buffer, this.at, value);
  }

  double(field: number, value: number): void {
    this.#tag(field, WIRE_TYPES.fixed64);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, WIRE_TYPES.fixed64);
    this.view.setBigUint64(this.at, value, true);
    this.at += 8;
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, WIRE_TYPES.fixed32);
    this.view.setUint32(this.at, value, true);
    this.at += 4;
  }

  /** Makes room for `bytes` more. */
  protected ensure(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const larger = Buffer.alloc(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
    this.view = viewOf(larger);
  }

  #tag(field: number, wireType: number): void {
    this.ensure(FIELD_MAX);
    this.at = writeVarint(this.buffer, this.at, (field << 3) | wireType);
  }
}

/** Writes the bytes that `digits` are; returns where they end. A call into Node for them takes longer than this loop. */
export function writeHex(target: Uint8Array, at: number, digits: string): number {
  const end = at + digits.length / 2;
  for (let index = 0, next = at; next < end; index += 2, next += 1)
    target[next] = (digitOf(digits.charCodeAt(index)) << 4) | digitOf(digits.charCodeAt(index + 1));
  return end;
}

/** The value of a hexadecimal digit in lower case. */
function digitOf(code: number): number {
  return code < 0x3a ? code - 0x30 : code - 0x57;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
