import { SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { scrub } from '@vitrine/privacy/scrub';
import type { EndedSpan, SpanAttributes, SpanShape } from './ended-span.ts';
import { RandomIds, SPAN_ID_BYTES, TRACE_ID_BYTES } from './random-ids.ts';
import { cleanState, nanosOf } from './readable-span.ts';

/** Upper bounds for a span without its texts and attributes, and for an attribute without its texts. */
const SPAN_BYTES = 160;
const ATTRIBUTE_BYTES = 32;
/** Bytes of UTF-8 for one UTF-16 unit, at most. */
const UTF8_MAX = 3;
const FIRST_CAPACITY = 65_536;

/** Source: opentelemetry-proto, trace.proto, Span.SpanKind. */
const KINDS: Readonly<Record<SpanShape['kind'], number>> = { internal: 1, server: 2, client: 3 };
/** The field that holds a span's attributes. */
const ATTRIBUTES = 9;
/** Bits of a span's flags: the context says whether it is remote, and it is. */
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** Writes spans as OTLP protobuf in one pass; no credential is left in them. The stock serializer sizes everything first and takes twice as
 *  long (1,020 spans: 2.0 ms against 0.95 ms).
 *  Field numbers: opentelemetry-proto, trace.proto and common.proto. */
export class PlainSpanWriter {
  #buffer = Buffer.alloc(FIRST_CAPACITY);
  #at = 0;
  readonly #ids = new RandomIds();
  readonly #traceId = new IdBytes(TRACE_ID_BYTES);
  readonly #spanId = new IdBytes(SPAN_ID_BYTES);
  readonly #parentId = new IdBytes(SPAN_ID_BYTES);
  readonly #encoded = new WeakMap<SpanShape, Uint8Array>();
  #second = -1;
  #secondLow = 0;
  #secondHigh = 0;

  /** The bytes written since the last call; they are valid until the next write. */
  take(): Buffer {
    const written = this.#buffer.subarray(0, this.#at);
    this.#at = 0;
    return written;
  }

  text(field: number, value: string): void {
    this.#ensure(value.length * UTF8_MAX + ATTRIBUTE_BYTES);
    this.#text(field, value);
  }

  attributes(field: number, namesAndValues: SpanAttributes): void {
    for (let at = 0; at < namesAndValues.length; at += 2) {
      const name = namesAndValues[at] as string;
      const given = namesAndValues[at + 1];
      const value = typeof given === 'string' ? scrub(given).text : given;
      this.#ensure((name.length + (typeof value === 'string' ? value.length : 0)) * UTF8_MAX + ATTRIBUTE_BYTES);
      const pair = this.#begin(field);
      this.#text(1, name);
      const any = this.#begin(2);
      if (typeof value === 'string') this.#text(1, value);
      else if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0xffff_ffff) this.#number(3, Number(value));
      else this.#double(4, Number(value));
      this.#end(any);
      this.#end(pair);
    }
  }

  /** As field `field`, the span. */
  span(field: number, span: EndedSpan): void {
    const { parentSpanId, shape } = span;
    const encoded = this.#encoded.get(shape) ?? this.#encode(shape);
    const state = cleanState(span.traceState);
    this.#ensure(state.length * UTF8_MAX + encoded.length + SPAN_BYTES);
    const begun = this.#begin(field);
    this.#id(1, this.#traceId.of(span.traceId));
    if (span.spanId === undefined) this.#randomId(2);
    else this.#id(2, this.#spanId.of(span.spanId));
    if (state !== '') this.#text(3, state);
    if (parentSpanId !== undefined) this.#id(4, this.#parentId.of(parentSpanId));
    this.#time(7, span.startedAt);
    this.#time(8, span.endedAt);
    this.#flags(TraceFlags.SAMPLED | HAS_IS_REMOTE | (span.isParentRemote ? IS_REMOTE : 0));
    this.#buffer.set(encoded, this.#at);
    this.#at += encoded.length;
    this.attributes(ATTRIBUTES, span.own);
    this.#end(begun);
  }

  /** What all spans of the shape have in common, encoded once. */
  #encode(shape: SpanShape): Uint8Array {
    const { kind, attributes, failure } = shape;
    const name = scrub(shape.name).text;
    const message = failure === undefined ? '' : scrub(failure).text;
    const begin = this.#at;
    this.#ensure((name.length + message.length) * UTF8_MAX + SPAN_BYTES);
    this.#text(5, name);
    this.#number(6, KINDS[kind]);
    const status = this.#begin(15);
    if (message !== '') this.#text(2, message);
    this.#number(3, failure === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR);
    this.#end(status);
    this.attributes(ATTRIBUTES, attributes);
    const encoded = Uint8Array.from(this.#buffer.subarray(begin, this.#at));
    this.#at = begin;
    this.#encoded.set(shape, encoded);
    return encoded;
  }

  #ensure(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.alloc(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }

  /** Begins a message whose length is not known yet; one byte is reserved for it. */
  #begin(field: number): number {
    this.#byte((field << 3) | 2);
    this.#at += 1;
    return this.#at;
  }

  #end(begin: number): void {
    const length = this.#at - begin;
    if (length < 0x80) {
      this.#buffer[begin - 1] = length;
      return;
    }
    const more = length < 0x4000 ? 1 : length < 0x20_0000 ? 2 : 3;
    this.#buffer.copyWithin(begin + more, begin, this.#at);
    this.#at = begin - 1;
    this.#varint(length);
    this.#at += length;
  }

  #text(field: number, value: string): void {
    const begin = this.#begin(field);
    const buffer = this.#buffer;
    let at = begin;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        at = begin + buffer.write(value, begin, 'utf8');
        break;
      }
      buffer[at++] = code;
    }
    this.#at = at;
    this.#end(begin);
  }

  #id(field: number, bytes: Uint8Array): void {
    this.#byte((field << 3) | 2);
    this.#byte(bytes.length);
    // A loop, because a call into Node takes longer than copying 16 bytes.
    for (let index = 0; index < bytes.length; index += 1) this.#buffer[this.#at++] = bytes[index]!;
  }

  #randomId(field: number): void {
    this.#byte((field << 3) | 2);
    this.#byte(SPAN_ID_BYTES);
    this.#ids.writeSpanId(this.#buffer, this.#at);
    this.#at += SPAN_ID_BYTES;
  }

  #number(field: number, value: number): void {
    this.#byte(field << 3);
    this.#varint(value);
  }

  #double(field: number, value: number): void {
    this.#byte((field << 3) | 1);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** Nanoseconds since the epoch, which need 61 bits; those of the second are cached, because most spans share it. */
  #time(field: number, milliseconds: number): void {
    const seconds = Math.trunc(milliseconds / 1_000);
    if (seconds !== this.#second) {
      const whole = BigInt(seconds) * 1_000_000_000n;
      this.#second = seconds;
      this.#secondLow = Number(whole & 0xffff_ffffn);
      this.#secondHigh = Number(whole >> 32n);
    }
    const low = this.#secondLow + nanosOf(milliseconds, seconds);
    this.#byte((field << 3) | 1);
    this.#at = this.#buffer.writeUInt32LE(low % 0x1_0000_0000, this.#at);
    this.#at = this.#buffer.writeUInt32LE(this.#secondHigh + (low >= 0x1_0000_0000 ? 1 : 0), this.#at);
  }

  /** Field 16: its tag takes two bytes. */
  #flags(value: number): void {
    this.#varint((16 << 3) | 5);
    this.#at = this.#buffer.writeUInt32LE(value, this.#at);
  }

  #byte(value: number): void {
    this.#buffer[this.#at++] = value;
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#buffer[this.#at++] = (rest & 0x7f) | 0x80;
    this.#buffer[this.#at++] = rest;
  }
}

/** Caches the bytes of the newest id: spans of a request follow each other, and share ids. */
class IdBytes {
  readonly #bytes: Uint8Array;
  #text = '';

  constructor(length: number) {
    this.#bytes = new Uint8Array(length);
  }

  of(text: string): Uint8Array {
    const bytes = this.#bytes;
    if (text === this.#text) return bytes;
    this.#text = text;
    for (let at = 0; at < bytes.length; at += 1)
      bytes[at] = (digitOf(text.charCodeAt(2 * at)) << 4) | digitOf(text.charCodeAt(2 * at + 1));
    return bytes;
  }
}

/** The value of a hexadecimal digit in lower case. */
function digitOf(code: number): number {
  return code < 0x3a ? code - 0x30 : code - 0x57;
}
