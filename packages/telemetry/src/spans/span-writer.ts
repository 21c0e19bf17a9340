import { SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { scrub } from '@vitrine/privacy/scrub';
import { ProtobufWriter, writeHex } from '../protobuf/protobuf-writer.ts';
import { varintLength } from '../protobuf/varint.ts';
import type { EndedSpan, SpanAttributes, SpanShape } from './ended-span.ts';
import { RandomIds, SPAN_ID_BYTES, TRACE_ID_BYTES } from './random-ids.ts';
import { cleanState, nanosOf } from './readable-span.ts';

/** Source: opentelemetry-proto, trace.proto, Span.SpanKind. */
const KINDS: Readonly<Record<SpanShape['kind'], number>> = { internal: 1, server: 2, client: 3 };
/** The field that holds a span's attributes. */
const ATTRIBUTES = 9;
/** Bits of a span's flags: the context says whether it is remote, and it is. */
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

const NO_TRACE_ID = '0'.repeat(2 * TRACE_ID_BYTES);
const NO_SPAN_ID = '0'.repeat(2 * SPAN_ID_BYTES);

// Where a template has what differs from span to span; see `#encode`. Each value is behind a tag and, if it is an id, its length.
const TRACE_ID = 2;
const SPAN_ID = TRACE_ID + TRACE_ID_BYTES + 2;
const STARTED_AT = SPAN_ID + SPAN_ID_BYTES + 1;
const ENDED_AT = STARTED_AT + 8 + 1;
/** The tag of field 16 takes two bytes. */
const FLAGS = ENDED_AT + 8 + 2;

/** Writes spans as OTLP protobuf; no credential is left in them. A span is a copy of its shape's template in which ids and times are
 *  replaced, and its own attributes behind it. Field numbers: opentelemetry-proto, trace.proto and common.proto. */
export class SpanWriter extends ProtobufWriter {
  readonly #ids = new RandomIds();
  readonly #templates = new WeakMap<SpanShape, Uint8Array>();
  #second = -1;
  #secondLow = 0;
  #secondHigh = 0;

  attributes(field: number, namesAndValues: SpanAttributes): void {
    for (let at = 0; at < namesAndValues.length; at += 2) {
      const value = namesAndValues[at + 1];
      const pair = this.begin(field);
      this.text(1, namesAndValues[at] as string);
      const any = this.begin(2);
      if (typeof value === 'string') this.text(1, scrub(value).text);
      else if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0xffff_ffff) this.number(3, Number(value));
      else this.double(4, Number(value));
      this.end(any);
      this.end(pair);
    }
  }

  /** As field `field`, the span. */
  span(field: number, span: EndedSpan): void {
    const { spanId, parentSpanId } = span;
    const template = this.#templates.get(span.shape) ?? this.#encode(span.shape);
    const lengthBytes = varintLength(template.length);
    const begin = this.begin(field, lengthBytes);
    this.ensure(template.length);
    this.buffer.set(template, begin);
    this.at = begin + template.length;
    writeHex(this.buffer, begin + TRACE_ID, span.traceId);
    if (spanId === undefined) this.#ids.writeSpanId(this.buffer, begin + SPAN_ID);
    else writeHex(this.buffer, begin + SPAN_ID, spanId);
    this.#time(begin + STARTED_AT, span.startedAt);
    this.#time(begin + ENDED_AT, span.endedAt);
    if (span.isParentRemote) this.view.setUint32(begin + FLAGS, TraceFlags.SAMPLED | HAS_IS_REMOTE | IS_REMOTE, true);
    if (parentSpanId !== undefined) this.hex(4, parentSpanId);
    const state = cleanState(span.traceState);
    if (state !== '') this.text(3, state);
    this.attributes(ATTRIBUTES, span.own);
    this.end(begin, lengthBytes);
  }

  /** What all spans of the shape have in common, with ids and times of zeros. */
  #encode(shape: SpanShape): Uint8Array {
    const { kind, attributes, failure } = shape;
    const begin = this.at;
    this.hex(1, NO_TRACE_ID);
    this.hex(2, NO_SPAN_ID);
    this.fixed64(7, 0n);
    this.fixed64(8, 0n);
    this.fixed32(16, TraceFlags.SAMPLED | HAS_IS_REMOTE);
    this.text(5, scrub(shape.name).text);
    this.number(6, KINDS[kind]);
    const status = this.begin(15);
    if (failure !== undefined) this.text(2, scrub(failure).text);
    this.number(3, failure === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR);
    this.end(status);
    this.attributes(ATTRIBUTES, attributes);
    const template = Uint8Array.from(this.buffer.subarray(begin, this.at));
    this.at = begin;
    this.#templates.set(shape, template);
    return template;
  }

  /** Nanoseconds since the epoch, which need 61 bits; those of the second are cached, because most spans share it. */
  #time(at: number, milliseconds: number): void {
    const seconds = Math.trunc(milliseconds / 1_000);
    if (seconds !== this.#second) {
      const whole = BigInt(seconds) * 1_000_000_000n;
      this.#second = seconds;
      this.#secondLow = Number(whole & 0xffff_ffffn);
      this.#secondHigh = Number(whole >> 32n);
    }
    const low = this.#secondLow + nanosOf(milliseconds, seconds);
    this.view.setUint32(at, low >>> 0, true);
    this.view.setUint32(at + 4, this.#secondHigh + (low > 0xffff_ffff ? 1 : 0), true);
  }
}
