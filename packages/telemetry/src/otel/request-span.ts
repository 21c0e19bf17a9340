import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type HrTime,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { SpanIds } from './exemplar-slots.ts';
import { labelOf, UNKNOWN } from './bounded-names.ts';

/** What all requests' spans share. */
export interface SpanTools {
  readonly tracer: Tracer;
  readonly clock: SpanClock;
  /** Whether client spans carry the attributes of the GenAI conventions. */
  readonly genai: boolean;
}

/** Where span times come from: a steady clock, and what it is worth. */
export interface SpanClock {
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly epochMs: () => number;
}

/** Whose request it is; what is missing is `unknown`. */
export interface SpanTenant {
  readonly org_id: string | undefined;
  readonly workspace_id: string | undefined;
}

/** What the accepted key tells of its caller. */
export interface SpanCaller extends SpanTenant {
  readonly key_id: string;
  readonly role: string;
  readonly correlationId: string;
}

/** What a request to a provider asked for. */
export interface UpstreamCall {
  readonly provider: string;
  /** `chat`, `embeddings`, ...; undefined for what generates nothing. */
  readonly operation: string | undefined;
}

/** How a request ended. */
export interface SpanEnd extends SpanTenant {
  /** The status that went to the client; 499 when it left first. */
  readonly status: number;
  /** Undefined for what goes to no provider. */
  readonly provider: string | undefined;
  /** Of the provider's answer; undefined when there was none. */
  readonly upstreamStatus?: number | undefined;
  /** Why there was no whole answer of the provider, such as `timeout`. */
  readonly upstreamError?: string | undefined;
  /** When the provider's part ended, by the steady clock; with the request, unless told. */
  readonly upstreamEndedAt?: number | undefined;
  readonly model?: string | undefined;
}

/** Prefixes by provider. Spec: gateway, Spans. */
const PREFIXES: Readonly<Record<string, string>> = { openai: '/openai', anthropic: '/anthropic' };

/** The spans of one request: the server span, and its children while it is recorded. Without recording it only hands on its ids,
 *  which costs a microsecond. Children that need no id of their own are made when they have ended. */
export class RequestSpan {
  readonly #tracer: Tracer;
  readonly #clock: SpanClock;
  readonly #genai: boolean;
  readonly #name: string;
  readonly #span: Span;
  readonly #isRecording: boolean;
  readonly #hasParent: boolean;
  /** Added to the steady clock's milliseconds gives the epoch's: one for the whole request, so that its spans fit together. */
  readonly #offset: number;
  readonly #context: Context;
  #routedAt: HrTime;
  #upstream: Span | undefined;

  constructor({ tracer, clock, genai }: SpanTools, method: string, route: string, parent: Context) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.#genai = genai;
    this.#hasParent = parent !== ROOT_CONTEXT;
    this.#name = `${method} ${route}`;
    const now = clock.now();
    this.#offset = clock.epochMs() - now;
    this.#routedAt = this.#time(now);
    this.#span = tracer.startSpan(this.#name, { kind: SpanKind.SERVER, startTime: this.#routedAt }, parent);
    this.#isRecording = this.#span.isRecording();
    // Given to startSpan, they would be copied twice even for a span that is not recorded.
    if (this.#isRecording) this.#span.setAttributes({ 'http.request.method': method, 'http.route': route });
    this.#context = this.#isRecording ? trace.setSpan(parent, this.#span) : parent;
  }

  get ids(): SpanIds {
    return this.#span.spanContext();
  }

  /** The trace's id when somebody else may know it: the client named it, or the span is sampled. */
  get knownTraceId(): string | undefined {
    return this.#hasParent ? this.ids.traceId : this.sampledIds?.traceId;
  }

  /** The ids when the span is sampled: what an exemplar may point to. */
  get sampledIds(): SpanIds | undefined {
    const ids = this.#span.spanContext();
    return (ids.traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : ids;
  }

  /** Runs `work` with this span as the active one, so that what it logs is correlated. Not for the proxy: callbacks of a pooled
   *  connection run in the context of whoever opened it. */
  run<T>(work: () => T): T {
    return context.with(trace.setSpan(this.#context, this.#span), work);
  }

  /** The key was looked at, from `startedAt` (the steady clock) until now. */
  authenticated(startedAt: number, caller: SpanCaller | 'unauthorized' | 'forbidden' | 'unavailable'): void {
    if (!this.#isRecording) return;
    const isDenied = typeof caller === 'string';
    const reason = caller === 'unauthorized' || caller === 'forbidden' ? { 'gateway.auth.deny_reason': caller } : {};
    const end = this.#now();
    const attributes = isDenied ? { 'gateway.auth.result': 'deny', ...reason } : { 'gateway.auth.result': 'allow' };
    this.#child('gateway.auth', this.#time(startedAt), end, attributes, isDenied ? caller : undefined);
    this.#routedAt = end;
    if (isDenied) return;
    this.#span.setAttributes({
      'gateway.correlation_id': caller.correlationId,
      'gateway.org_id': caller.org_id ?? UNKNOWN,
      'gateway.workspace_id': caller.workspace_id ?? UNKNOWN,
      'gateway.key_id': caller.key_id,
      'gateway.role': caller.role,
    });
  }

  /** The request is about to be sent to a provider. Answers the headers that carry the trace there, as names and values in turn; they
   *  take the place of the client's own. */
  startUpstream({ provider, operation }: UpstreamCall): string[] {
    if (this.#isRecording && this.#upstream === undefined) {
      const attributes: Attributes = this.#genai ? { 'gen_ai.provider.name': provider } : {};
      if (this.#genai && operation !== undefined) attributes['gen_ai.operation.name'] = operation;
      this.#upstream = this.#tracer.startSpan(
        `proxy ${this.#name}`,
        { kind: SpanKind.CLIENT, startTime: this.#now(), attributes },
        this.#context,
      );
    }
    const { traceId, spanId, traceFlags, traceState } = (this.#upstream ?? this.#span).spanContext();
    const parent = ['traceparent', `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`];
    const state = traceState?.serialize() ?? '';
    return state === '' ? parent : [...parent, 'tracestate', state];
  }

  /** The answer is over. `gateway.trace.enqueue` may still follow. */
  end(end: SpanEnd): void {
    if (!this.#isRecording) return;
    const now = this.#now();
    this.#endUpstream(end, now);
    const failure = end.status >= 500 ? `http ${end.status}` : undefined;
    const attributes = {
      'gateway.route.provider': end.provider ?? UNKNOWN,
      'gateway.route.prefix': PREFIXES[end.provider ?? ''] ?? '/',
      'gateway.org_id': end.org_id ?? UNKNOWN,
      'gateway.workspace_id': end.workspace_id ?? UNKNOWN,
    };
    this.#child('gateway.route', this.#routedAt, now, attributes, failure);
    this.#span.setAttribute('http.response.status_code', end.status);
    if (failure !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    this.#span.end(now);
  }

  /** The request's trace was offered to the queue, from `startedAt` (the steady clock) until now. */
  enqueued(startedAt: number, isAccepted: boolean, { org_id, workspace_id }: SpanTenant): void {
    if (!this.#isRecording) return;
    const attributes = {
      'gateway.trace.enqueue.result': isAccepted ? 'accepted' : 'dropped',
      'gateway.org_id': org_id ?? UNKNOWN,
      'gateway.workspace_id': workspace_id ?? UNKNOWN,
    };
    this.#child(
      'gateway.trace.enqueue',
      this.#time(startedAt),
      this.#now(),
      attributes,
      isAccepted ? undefined : 'trace dropped',
    );
  }

  #endUpstream({ upstreamStatus, upstreamError, upstreamEndedAt, model }: SpanEnd, now: HrTime): void {
    const span = this.#upstream;
    if (span === undefined) return;
    // A client's text: as short as in a label.
    if (this.#genai && model !== undefined) span.setAttribute('gen_ai.request.model', labelOf(model));
    if (upstreamStatus !== undefined) span.setAttribute('http.response.status_code', upstreamStatus);
    const isServerError = upstreamStatus !== undefined && upstreamStatus >= 500;
    const failure = isServerError ? `http ${upstreamStatus}` : upstreamError;
    if (failure !== undefined) {
      span.setAttribute('error.type', isServerError ? String(upstreamStatus) : failure);
      span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    }
    span.end(upstreamEndedAt === undefined ? now : this.#time(upstreamEndedAt));
  }

  #child(name: string, startTime: HrTime, endTime: HrTime, attributes: Attributes, failure: string | undefined): void {
    const span = this.#tracer.startSpan(name, { kind: SpanKind.INTERNAL, startTime, attributes }, this.#context);
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    span.end(endTime);
  }

  #now(): HrTime {
    return this.#time(this.#clock.now());
  }

  #time(steadyMs: number): HrTime {
    const milliseconds = steadyMs + this.#offset;
    const seconds = Math.trunc(milliseconds / 1_000);
    return [seconds, Math.min(999_999_999, Math.round((milliseconds - seconds * 1_000) * 1_000_000))];
  }
}
