import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  context as activeContext,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { IncomingHttpHeaders } from 'node:http';
import type { SpanIds } from '../active-span.ts';

/** A span whose work has ended. Times are those of `performance.now()`. */
interface FinishedSpan {
  readonly name: string;
  readonly attributes?: Attributes;
  /** Why it failed; undefined when it did not. */
  readonly failure?: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Records an internal span after the fact: a trace of its own, or a child of the span in `parent`. `offset`: see `epochOffset`. */
export function recordSpan(
  tracer: Tracer,
  { name, attributes = {}, failure, startedAt, endedAt }: FinishedSpan,
  parent: Context = ROOT_CONTEXT,
  offset: number = epochOffset(),
): void {
  const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes, startTime: startedAt + offset }, parent);
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
  span.end(endedAt + offset);
}

/** What added to a time of `performance.now()` makes milliseconds since the epoch. Spans that belong together use one reading, because the
 *  system clock may be set meanwhile. */
function epochOffset(): number {
  return Date.now() - performance.now();
}

const propagator = new W3CTraceContextPropagator();
const getter = {
  keys: (headers: IncomingHttpHeaders) => Object.keys(headers),
  get: (headers: IncomingHttpHeaders, name: string) => headers[name],
};

/** How a span ended. */
export interface SpanResult {
  readonly attributes: Attributes;
  /** Why it failed; undefined when it did not. */
  readonly failure: string | undefined;
}

/** The server span of one request, and the parent of its children. For an unsampled request only the ids are kept, without children and
 *  attributes. Times are those of `performance.now()`. */
export class ServerSpan implements SpanIds {
  /** Whether the request is sampled: by the client's decision in a valid `traceparent`, else by the ratio. */
  readonly isRecording: boolean;
  /** The client's trace state; '' for none. */
  readonly traceState: string;
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  readonly #epochOffset = epochOffset();

  /** `headers`: the request's. */
  constructor(tracer: Tracer, name: string, startedAt: number, headers: IncomingHttpHeaders) {
    const parent = headers['traceparent'] === undefined ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, headers, getter);
    this.#tracer = tracer;
    this.#span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: this.#epochMs(startedAt) }, parent);
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#span);
    this.isRecording = this.#span.isRecording();
    this.traceState = this.#ids.traceState?.serialize() ?? '';
  }

  get traceId(): string {
    return this.#ids.traceId;
  }

  get spanId(): string {
    return this.#ids.spanId;
  }

  /** The ids when the span is sampled: what an exemplar may refer to. */
  get sampledIds(): SpanIds | undefined {
    return this.isRecording ? this : undefined;
  }

  /** The `traceparent` that continues the trace in another service. */
  get traceParent(): string {
    return traceParentOf(this.#ids);
  }

  /** Runs `work` with this span active, so that its log lines have the ids. Not for callbacks of a pooled connection, which run in the context of
   *  the request that opened it. */
  run<T>(work: () => T): T {
    return activeContext.with(this.#context, work);
  }

  /** Starts the client span of the request's call of another service. */
  startClient(name: string, startedAt: number): ClientSpan | undefined {
    if (!this.isRecording) return undefined;
    const startTime = this.#epochMs(startedAt);
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime }, this.#context);
    return {
      traceParent: traceParentOf(span.spanContext()),
      end: (endedAt, result) => endSpan(span, this.#epochMs(endedAt), result),
    };
  }

  /** Records a child span of finished work. */
  recordChild(child: FinishedSpan): void {
    if (this.isRecording) recordSpan(this.#tracer, child, this.#context, this.#epochOffset);
  }

  end(endedAt: number, result: SpanResult): void {
    if (this.isRecording) endSpan(this.#span, this.#epochMs(endedAt), result);
  }

  get #ids(): SpanContext {
    return this.#span.spanContext();
  }

  #epochMs(at: number): number {
    return at + this.#epochOffset;
  }
}

/** The span of a call of another service. Times are those of `performance.now()`. */
export interface ClientSpan {
  /** The `traceparent` for the call. */
  readonly traceParent: string;
  end(endedAt: number, result: SpanResult): void;
}

function endSpan(span: Span, endedAt: number, { attributes, failure }: SpanResult): void {
  span.setAttributes(attributes);
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
  span.end(endedAt);
}

function traceParentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
}
