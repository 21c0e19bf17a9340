import { context, ROOT_CONTEXT, SpanKind, trace, TraceFlags, type SpanContext } from '@opentelemetry/api';
import { labelOf, UNKNOWN } from './bounded-names.ts';
import type { SpanAttributes, SpanShape, SpanSink } from './ended-span.ts';
import type { SpanIds } from './duration-series.ts';
import type { RandomIds } from './random-ids.ts';
import type { SpanShapes } from './span-shapes.ts';

/** What all requests' spans share. */
export interface RequestSpanContext {
  readonly sink: SpanSink;
  readonly ids: RandomIds;
  readonly shapes: SpanShapes;
  /** Whether a trace without a parent is recorded. */
  readonly isSampled: (traceId: string) => boolean;
  /** Milliseconds since the epoch. */
  readonly epochMs: () => number;
  /** Whether client spans carry the attributes of the GenAI conventions. */
  readonly genai: boolean;
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
  /** The class of what broke between gateway and provider, such as `reset`; */
  readonly upstreamError?: string | undefined;
  /** and the words for it. */
  readonly upstreamErrorDetail?: string | undefined;
  /** When the provider's part ended; with the request, unless told. */
  readonly upstreamEndedAt?: number | undefined;
  readonly model?: string | undefined;
}

/** Prefixes by provider. Spec: gateway, Spans. */
const PREFIXES: Readonly<Record<string, string>> = { openai: '/openai', anthropic: '/anthropic' };

const NO_ATTRIBUTES: SpanAttributes = [];
const ALLOWED = childShape('gateway.auth', ['gateway.auth.result', 'allow'], undefined);

/** The spans of one request: the server span, and its children while it is recorded. Without recording it only hands on its ids. They
 *  are told to the sink when they have ended, past the SDK's tracer, which would check and copy what is known.
 *  Moments are those of `performance.now()`. */
export class RequestSpan implements SpanIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly #tools: RequestSpanContext;
  readonly #method: string;
  readonly #route: string;
  readonly #parent: SpanContext | undefined;
  readonly #traceState: string;
  readonly #isRecording: boolean;
  readonly #startedAt: number;
  /** Added to the steady clock's milliseconds gives the epoch's: one for the whole request, so that its spans fit together. */
  readonly #offset: number;
  #routedAt: number;
  #caller: SpanCaller | undefined;
  #call: UpstreamCall | undefined;
  #sentAt = 0;
  #upstreamId = '';

  constructor(tools: RequestSpanContext, at: number, method: string, route: string, parent: SpanContext | undefined) {
    this.#tools = tools;
    this.#method = method;
    this.#route = route;
    this.#parent = parent;
    this.#traceState = parent?.traceState?.serialize() ?? '';
    this.traceId = parent?.traceId ?? tools.ids.traceId();
    this.spanId = tools.ids.spanId();
    this.#isRecording = parent === undefined ? tools.isSampled(this.traceId) : (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    this.#startedAt = at;
    this.#routedAt = at;
    this.#offset = this.#isRecording ? tools.epochMs() - at : 0;
  }

  /** The ids when the span is sampled: what an exemplar may point to. */
  get sampledIds(): SpanIds | undefined {
    return this.#isRecording ? this : undefined;
  }

  /** Runs `work` with this span as the active one, so that what it logs is correlated. Not for the proxy: callbacks of a pooled
   *  connection run in the context of whoever opened it. */
  run<T>(work: () => T): T {
    const { traceId, spanId } = this;
    const traceFlags = this.#isRecording ? TraceFlags.SAMPLED : TraceFlags.NONE;
    return context.with(trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags }), work);
  }

  /** The key was looked at. */
  authenticated(startedAt: number, endedAt: number, caller: SpanCaller | 'unauthorized' | 'forbidden' | 'unavailable'): void {
    if (!this.#isRecording) return;
    this.#routedAt = endedAt;
    if (typeof caller !== 'string') {
      this.#caller = caller;
      this.#child(ALLOWED, startedAt, endedAt);
      return;
    }
    const reason = caller === 'unavailable' ? [] : ['gateway.auth.deny_reason', caller];
    this.#child(childShape('gateway.auth', ['gateway.auth.result', 'deny', ...reason], caller), startedAt, endedAt);
  }

  /** The request is about to be sent to a provider. Answers the headers that carry the trace there, as names and values in turn; they
   *  take the place of the client's own. */
  startUpstream(at: number, call: UpstreamCall): string[] {
    if (this.#isRecording && this.#call === undefined) {
      this.#call = call;
      this.#sentAt = at;
      this.#upstreamId = this.#tools.ids.spanId();
    }
    const spanId = this.#call === undefined ? this.spanId : this.#upstreamId;
    const parent = ['traceparent', `00-${this.traceId}-${spanId}-0${this.#isRecording ? 1 : 0}`];
    const state = this.#traceState;
    return state === '' ? parent : [...parent, 'tracestate', state];
  }

  /** The answer is over. `gateway.trace.enqueue` may still follow. */
  end(at: number, end: SpanEnd): void {
    if (!this.#isRecording) return;
    if (this.#call !== undefined) this.#endUpstream(this.#call, at, end);
    this.#child(this.#routeShape(end), this.#routedAt, at);
    const { correlationId } = this.#caller ?? {};
    const own = correlationId === undefined ? NO_ATTRIBUTES : ['gateway.correlation_id', correlationId];
    this.#add(this.#serverShape(end), own, this.spanId, this.#startedAt, at);
  }

  /** The request's trace was offered to the queue. */
  enqueued(startedAt: number, endedAt: number, isAccepted: boolean, tenant: SpanTenant): void {
    if (!this.#isRecording) return;
    this.#child(this.#enqueueShape(isAccepted, tenant), startedAt, endedAt);
  }

  #endUpstream(call: UpstreamCall, at: number, end: SpanEnd): void {
    // A client's text: as short as in a label.
    const hasModel = this.#tools.genai && end.model !== undefined;
    const model = hasModel ? ['gen_ai.request.model', labelOf(end.model)] : NO_ATTRIBUTES;
    const { upstreamErrorDetail: detail = '' } = end;
    const own = detail === '' ? model : [...model, 'gateway.upstream_error.detail', detail];
    this.#add(this.#upstreamShape(call, end), own, this.#upstreamId, this.#sentAt, end.upstreamEndedAt ?? at);
  }

  #serverShape({ status, upstreamError }: SpanEnd): SpanShape {
    const [method, route, caller] = [this.#method, this.#route, this.#caller];
    const { org_id = UNKNOWN, workspace_id = UNKNOWN, key_id = '', role = '' } = caller ?? {};
    const key = `server\n${method}\n${route}\n${status}\n${upstreamError}\n${org_id}\n${workspace_id}\n${key_id}\n${role}`;
    return this.#tools.shapes.of(key, () => {
      const attributes = ['http.request.method', method, 'http.route', route, 'http.response.status_code', status];
      if (upstreamError !== undefined) attributes.push('error.type', upstreamError);
      attributes.push(
        ...(caller === undefined ? [] : [...tenantAttributes(caller), 'gateway.key_id', key_id, 'gateway.role', role]),
      );
      return { name: `${method} ${route}`, kind: SpanKind.SERVER, attributes, failure: failureOf(status) };
    });
  }

  #routeShape({ status, provider = UNKNOWN, org_id, workspace_id }: SpanEnd): SpanShape {
    const failure = failureOf(status);
    return this.#tools.shapes.of(`route\n${provider}\n${failure}\n${org_id}\n${workspace_id}`, () => {
      const attributes = ['gateway.route.provider', provider, 'gateway.route.prefix', PREFIXES[provider] ?? '/'];
      return childShape('gateway.route', [...attributes, ...tenantAttributes({ org_id, workspace_id })], failure);
    });
  }

  #upstreamShape({ provider, operation }: UpstreamCall, { upstreamStatus: status, upstreamError }: SpanEnd): SpanShape {
    const { genai, shapes } = this.#tools;
    const name = `proxy ${this.#method} ${this.#route}`;
    return shapes.of(`${name}\n${provider}\n${operation}\n${status}\n${upstreamError}`, () => {
      const failure = upstreamError ?? (status === undefined ? undefined : failureOf(status));
      const attributes: (string | number)[] = genai ? ['gen_ai.provider.name', provider] : [];
      if (genai && operation !== undefined) attributes.push('gen_ai.operation.name', operation);
      if (status !== undefined) attributes.push('http.response.status_code', status);
      if (failure !== undefined) attributes.push('error.type', upstreamError ?? String(status));
      return { name, kind: SpanKind.CLIENT, attributes, failure };
    });
  }

  #enqueueShape(isAccepted: boolean, tenant: SpanTenant): SpanShape {
    const result = isAccepted ? 'accepted' : 'dropped';
    return this.#tools.shapes.of(`${result}\n${tenant.org_id}\n${tenant.workspace_id}`, () => {
      const attributes = ['gateway.trace.enqueue.result', result, ...tenantAttributes(tenant)];
      return childShape('gateway.trace.enqueue', attributes, isAccepted ? undefined : 'trace dropped');
    });
  }

  #child(shape: SpanShape, startedAt: number, endedAt: number): void {
    this.#add(shape, NO_ATTRIBUTES, undefined, startedAt, endedAt);
  }

  #add(shape: SpanShape, own: SpanAttributes, spanId: string | undefined, startedAt: number, endedAt: number): void {
    const isServer = spanId === this.spanId;
    this.#tools.sink.add({
      shape,
      own,
      traceId: this.traceId,
      spanId,
      parentSpanId: isServer ? this.#parent?.spanId : this.spanId,
      isParentRemote: isServer && this.#parent !== undefined,
      traceState: this.#traceState,
      startedAt: startedAt + this.#offset,
      endedAt: endedAt + this.#offset,
    });
  }
}

function childShape(name: string, attributes: SpanAttributes, failure: string | undefined): SpanShape {
  return { name, kind: SpanKind.INTERNAL, attributes, failure };
}

function tenantAttributes({ org_id = UNKNOWN, workspace_id = UNKNOWN }: SpanTenant): SpanAttributes {
  return ['gateway.org_id', org_id, 'gateway.workspace_id', workspace_id];
}

/** Only a server's failure is one. Spec: gateway, Spans. */
function failureOf(status: number): string | undefined {
  return status >= 500 ? `http ${status}` : undefined;
}
