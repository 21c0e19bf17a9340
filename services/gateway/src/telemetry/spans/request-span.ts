import type { Tracer } from '@opentelemetry/api';
import { ServerSpan, type ClientSpan } from '@vitrine/telemetry/spans/server-span';
import type { IncomingHttpHeaders } from 'node:http';
import {
  AUTH_ALLOWED,
  authDenied,
  enqueueResult,
  requestResult,
  routeResult,
  upstreamResult,
  type SpanCaller,
  type SpanDenial,
  type SpanEnd,
  type SpanTenant,
  type UpstreamCall,
} from './request-span-results.ts';

/** The spans of one request: the server span, and its children while it is recorded. Times are those of `performance.now()`. */
export class RequestSpan extends ServerSpan {
  readonly #method: string;
  readonly #route: string;
  readonly #genai: boolean;
  #routedAt: number;
  #caller: SpanCaller | undefined;
  #upstream: { readonly span: ClientSpan; readonly call: UpstreamCall } | undefined;

  constructor(tracer: Tracer, at: number, method: string, route: string, headers: IncomingHttpHeaders, genai: boolean) {
    super(tracer, `${method} ${route}`, at, headers);
    this.#method = method;
    this.#route = route;
    this.#genai = genai;
    this.#routedAt = at;
  }

  /** The key was checked. */
  authenticated(startedAt: number, endedAt: number, caller: SpanCaller | SpanDenial): void {
    this.#routedAt = endedAt;
    if (typeof caller !== 'string') this.#caller = caller;
    const result = typeof caller === 'string' ? authDenied(caller) : AUTH_ALLOWED;
    this.recordChild({ name: 'gateway.auth', ...result, startedAt, endedAt });
  }

  /** The request is about to be sent to a provider. Returns the `traceparent` that replaces the client's own. */
  startUpstream(at: number, call: UpstreamCall): string {
    if (this.#upstream === undefined) {
      const span = this.startClient(`proxy ${this.#method} ${this.#route}`, at);
      if (span !== undefined) this.#upstream = { span, call };
    }
    return this.#upstream?.span.traceParent ?? this.traceParent;
  }

  /** The response has ended. `gateway.trace.enqueue` may still follow. */
  finish(at: number, end: SpanEnd): void {
    if (!this.isRecording) return;
    const upstream = this.#upstream;
    upstream?.span.end(end.upstreamEndedAt ?? at, upstreamResult(this.#genai, upstream.call, end));
    this.recordChild({ name: 'gateway.route', ...routeResult(end), startedAt: this.#routedAt, endedAt: at });
    this.end(at, requestResult(this.#method, this.#route, this.#caller, end));
  }

  /** The request's trace was offered to the queue. */
  enqueued(startedAt: number, endedAt: number, isAccepted: boolean, tenant: SpanTenant): void {
    if (!this.isRecording) return;
    this.recordChild({ name: 'gateway.trace.enqueue', ...enqueueResult(isAccepted, tenant), startedAt, endedAt });
  }
}
