import type { Attributes, HrTime } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** More than a span takes beside its texts and attributes, and an attribute beside its texts. */
const SPAN_BYTES = 160;
const ATTRIBUTE_BYTES = 32;
/** Bytes of UTF-8 for one UTF-16 unit, at most. */
const UTF8_MAX = 3;
const FIRST_CAPACITY = 65_536;

/** Whether `PlainSpanWriter` can write the span: no events and links, and only texts, numbers and booleans. All spans of the gateway are
 *  plain. */
export function isPlain(span: ReadableSpan): boolean {
  return span.events.length === 0 && span.links.length === 0 && hasPlainValues(span.attributes);
}

/** Whether all values are texts, numbers and booleans. */
export function hasPlainValues(attributes: Attributes): boolean {
  for (const key in attributes) if (typeof attributes[key] === 'object' || attributes[key] === undefined) return false;
  return true;
}

/** Writes plain spans as OTLP protobuf in one pass. The stock serializer sizes everything first and takes twice as long (1,020 spans: 2.0 ms
 *  against 0.95 ms), and is the largest part of what a sampled request costs.
 *  Field numbers: opentelemetry-proto, trace.proto and common.proto. */
export class PlainSpanWriter {
  #buffer = Buffer.alloc(FIRST_CAPACITY);
  #at = 0;
  #second = -1;
  #secondLow = 0;
  #secondHigh = 0;

  /** A copy of all that was written since the last time. */
  take(): Buffer {
    const written = Buffer.from(this.#buffer.subarray(0, this.#at));
    this.#at = 0;
    return written;
  }

  /** A message that stands in `field` of another, made of `parts`. */
  bytes(field: number, parts: readonly Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.#ensure(length + ATTRIBUTE_BYTES);
    this.#byte((field << 3) | 2);
    this.#varint(length);
    for (const part of parts) {
      this.#buffer.set(part, this.#at);
      this.#at += part.length;
    }
  }

  text(field: number, value: string): void {
    this.#ensure(value.length * UTF8_MAX + ATTRIBUTE_BYTES);
    this.#text(field, value);
  }

  attributes(field: number, attributes: Attributes): void {
    for (const key in attributes) {
      const value = attributes[key];
      const textLength = key.length + (typeof value === 'string' ? value.length : 0);
      this.#ensure(textLength * UTF8_MAX + ATTRIBUTE_BYTES);
      const pair = this.#begin(field);
      this.#text(1, key);
      const any = this.#begin(2);
      if (typeof value === 'string') this.#text(1, value);
      else if (typeof value === 'boolean') this.#number(2, value ? 1 : 0);
      else if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0xffff_ffff) this.#number(3, Number(value));
      else this.#double(4, Number(value));
      this.#end(any);
      this.#end(pair);
    }
  }

  /** As field `field`, the span. */
  span(field: number, span: ReadableSpan): void {
    const { traceId, spanId, traceFlags, traceState } = span.spanContext();
    const { message } = span.status;
    const state = traceState?.serialize() ?? '';
    this.#ensure((span.name.length + state.length) * UTF8_MAX + SPAN_BYTES);
    const begun = this.#begin(field);
    this.#hex(1, traceId);
    this.#hex(2, spanId);
    if (state !== '') this.#text(3, state);
    if (span.parentSpanContext !== undefined) this.#hex(4, span.parentSpanContext.spanId);
    this.#text(5, span.name);
    this.#number(6, span.kind + 1);
    this.#time(7, span.startTime);
    this.#time(8, span.endTime);
    // Room for the tail, because attributes ensure their own.
    this.attributes(9, span.attributes);
    this.#ensure((message?.length ?? 0) * UTF8_MAX + SPAN_BYTES);
    const status = this.#begin(15);
    if (message !== undefined && message !== '') this.#text(2, message);
    this.#number(3, span.status.code);
    this.#end(status);
    this.#flags((traceFlags & 0xff) | 0x100 | (span.parentSpanContext?.isRemote === true ? 0x200 : 0));
    this.#end(begun);
  }

  #ensure(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.alloc(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }

  /** Begins a message whose length is not known yet; one byte is left for it. */
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
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        this.#at = begin + this.#buffer.write(value, begin, 'utf8');
        break;
      }
      this.#buffer[this.#at++] = code;
    }
    this.#end(begin);
  }

  #hex(field: number, value: string): void {
    this.#byte((field << 3) | 2);
    this.#byte(value.length >> 1);
    this.#at += this.#buffer.write(value, this.#at, 'hex');
  }

  #number(field: number, value: number): void {
    this.#byte(field << 3);
    this.#varint(value);
  }

  #double(field: number, value: number): void {
    this.#byte((field << 3) | 1);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** Nanoseconds since the epoch. They need 61 bits; what a second is worth is remembered, because most spans share it. */
  #time(field: number, [seconds, nanos]: HrTime): void {
    if (seconds !== this.#second) {
      const whole = BigInt(seconds) * 1_000_000_000n;
      this.#second = seconds;
      this.#secondLow = Number(whole & 0xffff_ffffn);
      this.#secondHigh = Number(whole >> 32n);
    }
    const low = this.#secondLow + nanos;
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
