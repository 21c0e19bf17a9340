import { labelOf } from '@vitrine/telemetry/metrics/bounded-names';
import { NO_ATTRIBUTES, ServerSpan } from '@vitrine/telemetry/spans/server-span';
import type { Tracer } from '@vitrine/telemetry/spans/tracer';
import type { IncomingHttpHeaders } from 'node:http';
import {
  AUTH_ALLOWED,
  authDeniedShape,
  enqueueShape,
  routeShape,
  serverShape,
  upstreamShape,
  type SpanCaller,
  type SpanEnd,
  type SpanTenant,
  type UpstreamCall,
} from './request-span-shapes.ts';

/** The spans of one request: the server span, and its children while it is recorded. Times are those of `performance.now()`. */
export class RequestSpan extends ServerSpan {
  readonly #method: string;
  readonly #route: string;
  readonly #genai: boolean;
  #routedAt: number;
  #caller: SpanCaller | undefined;
  #call: UpstreamCall | undefined;
  #sentAt = 0;

  constructor(tracer: Tracer, at: number, method: string, route: string, headers: IncomingHttpHeaders, genai: boolean) {
    super(tracer, at, headers);
    this.#method = method;
    this.#route = route;
    this.#genai = genai;
    this.#routedAt = at;
  }

  /** The key was checked. */
  authenticated(startedAt: number, endedAt: number, caller: SpanCaller | 'unauthorized' | 'forbidden' | 'unavailable'): void {
    if (!this.isRecording) return;
    this.#routedAt = endedAt;
    if (typeof caller !== 'string') this.#caller = caller;
    this.recordChild(typeof caller === 'string' ? authDeniedShape(caller) : AUTH_ALLOWED, startedAt, endedAt);
  }

  /** The request is about to be sent to a provider. Returns the `traceparent` that replaces the client's own. */
  startUpstream(at: number, call: UpstreamCall): string {
    if (this.isRecording && this.#call === undefined) {
      this.#call = call;
      this.#sentAt = at;
    }
    return this.traceParent(this.#call === undefined ? this.spanId : this.clientSpanId);
  }

  /** The response has ended. `gateway.trace.enqueue` may still follow. */
  end(at: number, end: SpanEnd): void {
    if (!this.isRecording) return;
    const { shapes } = this.tracer;
    if (this.#call !== undefined) this.#endUpstream(this.#call, at, end);
    this.recordChild(routeShape(shapes, end), this.#routedAt, at);
    const caller = this.#caller;
    const own = caller === undefined ? NO_ATTRIBUTES : ['gateway.correlation_id', caller.correlationId];
    this.recordSelf(serverShape(shapes, this.#method, this.#route, caller, end), own, at);
  }

  /** The request's trace was offered to the queue. */
  enqueued(startedAt: number, endedAt: number, isAccepted: boolean, tenant: SpanTenant): void {
    if (!this.isRecording) return;
    this.recordChild(enqueueShape(this.tracer.shapes, isAccepted, tenant), startedAt, endedAt);
  }

  #endUpstream(call: UpstreamCall, at: number, end: SpanEnd): void {
    const genai = this.#genai;
    // A client's text: as short as in a label.
    const model = genai && end.model !== undefined ? ['gen_ai.request.model', labelOf(end.model)] : NO_ATTRIBUTES;
    const { upstreamErrorDetail: detail = '' } = end;
    const own = detail === '' ? model : [...model, 'gateway.upstream_error.detail', detail];
    const shape = upstreamShape(this.tracer.shapes, this.#method, this.#route, genai, call, end);
    this.recordChild(shape, this.#sentAt, end.upstreamEndedAt ?? at, own, this.clientSpanId);
  }
}
