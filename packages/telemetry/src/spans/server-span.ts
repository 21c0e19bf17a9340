import { context, ROOT_CONTEXT, trace, TraceFlags, type SpanContext } from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';
import { SPAN_ID_BYTES, TRACE_ID_BYTES } from './random-ids.ts';
import type { SpanAttributes, SpanIds, SpanShape } from './ended-span.ts';
import type { Tracer } from './tracer.ts';

export const NO_ATTRIBUTES: SpanAttributes = [];

/** The server span of one request, and the parent of its children. Of a request that is not sampled only the ids are kept, and nothing is
 *  recorded. Times are those of `performance.now()`. */
export class ServerSpan implements SpanIds {
  readonly traceId: string;
  readonly spanId: string;
  /** For the span of the request's call of another service. */
  readonly clientSpanId: string;
  readonly isRecording: boolean;
  protected readonly tracer: Tracer;
  readonly #parent: SpanContext | undefined;
  /** The client's trace state; '' for none. */
  readonly traceState: string;
  readonly #startedAt: number;
  /** Added to a time of `performance.now()` gives the epoch's: one for the whole request, so that its spans fit together. */
  readonly #offset: number;

  /** `headers`: the request's; the sampling decision of a valid `traceparent` is kept. */
  constructor(tracer: Tracer, at: number, headers: IncomingHttpHeaders) {
    const parent = tracer.parentOf(headers);
    this.tracer = tracer;
    this.#parent = parent;
    this.traceState = parent?.traceState?.serialize() ?? '';
    // One string for all, because making one takes longer than everything else here.
    const ids = tracer.ids.hex(TRACE_ID_BYTES + 2 * SPAN_ID_BYTES);
    this.traceId = parent?.traceId ?? ids.slice(0, 2 * TRACE_ID_BYTES);
    this.spanId = ids.slice(2 * TRACE_ID_BYTES, -2 * SPAN_ID_BYTES);
    this.clientSpanId = ids.slice(-2 * SPAN_ID_BYTES);
    this.isRecording = parent === undefined ? tracer.isSampled(this.traceId) : (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    this.#startedAt = at;
    this.#offset = this.isRecording ? Date.now() - at : 0;
  }

  /** The ids when the span is sampled: what an exemplar may refer to. */
  get sampledIds(): SpanIds | undefined {
    return this.isRecording ? this : undefined;
  }

  /** Runs `work` with this span as the active one, so that its log lines carry the ids. Not for callbacks of a pooled connection: they run
   *  in the context of the request that opened it. */
  run<T>(work: () => T): T {
    const { traceId, spanId } = this;
    const traceFlags = this.isRecording ? TraceFlags.SAMPLED : TraceFlags.NONE;
    return context.with(trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags }), work);
  }

  /** The headers that continue the trace in another service, as names and values in turn. `spanId`: that of the client span. */
  contextHeaders(spanId: string = this.spanId): string[] {
    const parent = ['traceparent', this.traceParent(spanId)];
    return this.traceState === '' ? parent : [...parent, 'tracestate', this.traceState];
  }

  /** The `traceparent` of a call whose client span has this id. */
  traceParent(spanId: string): string {
    return `00-${this.traceId}-${spanId}-0${this.isRecording ? 1 : 0}`;
  }

  /** Records this span itself. `own`: attributes that no other span of the shape has. */
  recordSelf(shape: SpanShape, own: SpanAttributes, endedAt: number): void {
    this.#record(shape, own, this.spanId, this.#startedAt, endedAt);
  }

  /** Records a child. Without `spanId` it gets one when it is written. */
  recordChild(shape: SpanShape, startedAt: number, endedAt: number, own: SpanAttributes = NO_ATTRIBUTES, spanId?: string): void {
    this.#record(shape, own, spanId, startedAt, endedAt);
  }

  #record(shape: SpanShape, own: SpanAttributes, spanId: string | undefined, startedAt: number, endedAt: number): void {
    if (!this.isRecording) return;
    const isSelf = spanId === this.spanId;
    this.tracer.sink.add({
      shape,
      own,
      traceId: this.traceId,
      spanId,
      parentSpanId: isSelf ? this.#parent?.spanId : this.spanId,
      isParentRemote: isSelf && this.#parent !== undefined,
      traceState: this.traceState,
      startedAt: startedAt + this.#offset,
      endedAt: endedAt + this.#offset,
    });
  }
}
