import type { Attributes, Tracer } from '@opentelemetry/api';
import { ServerSpan, type ClientSpan, type SpanResult } from '@vitrine/telemetry/spans/server-span';
import type { IncomingHttpHeaders } from 'node:http';
import { labelOf, UNKNOWN } from '@vitrine/telemetry/metrics/bounded-names';

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

  /** Called when the key was checked. */
  authenticated(startedAt: number, endedAt: number, caller: SpanCaller | SpanDenial): void {
    this.#routedAt = endedAt;
    if (typeof caller !== 'string') this.#caller = caller;
    const result = typeof caller === 'string' ? authDenied(caller) : AUTH_ALLOWED;
    this.recordChild({ name: 'gateway.auth', ...result, startedAt, endedAt });
  }

  /** Called before the request is sent to a provider. Returns the `traceparent` that replaces the client's own. */
  startUpstream(at: number, call: UpstreamCall): string {
    if (this.#upstream === undefined) {
      const span = this.startClient(`proxy ${this.#method} ${this.#route}`, at);
      if (span !== undefined) this.#upstream = { span, call };
    }
    return this.#upstream?.span.traceParent ?? this.traceParent;
  }

  /** Called when the response has ended. `gateway.trace.enqueue` may still follow. */
  finish(at: number, end: SpanEnd): void {
    if (!this.isRecording) return;
    const upstream = this.#upstream;
    upstream?.span.end(end.upstreamEndedAt ?? at, upstreamResult(this.#genai, upstream.call, end));
    this.recordChild({ name: 'gateway.route', ...routeResult(end), startedAt: this.#routedAt, endedAt: at });
    this.end(at, requestResult(this.#method, this.#route, this.#caller, end));
  }

  /** Called when the request's trace was offered to the queue. */
  enqueued(startedAt: number, endedAt: number, isAccepted: boolean, tenant: SpanTenant): void {
    if (!this.isRecording) return;
    this.recordChild({ name: 'gateway.trace.enqueue', ...enqueueResult(isAccepted, tenant), startedAt, endedAt });
  }
}

/** Tenant of a request; missing values are `unknown`. */
interface SpanTenant {
  readonly org_id: string | undefined;
  readonly workspace_id: string | undefined;
}

/** The caller whose key was accepted. */
interface SpanCaller extends SpanTenant {
  readonly key_id: string;
  readonly role: string;
  readonly correlationId: string;
}

/** Why a key was not accepted. */
type SpanDenial = 'unauthorized' | 'forbidden' | 'unavailable';

/** A request to a provider. */
interface UpstreamCall {
  readonly provider: string;
  /** `chat`, `embeddings`, ...; undefined for requests that generate nothing. */
  readonly operation: string | undefined;
}

/** How a request ended. */
export interface SpanEnd extends SpanTenant {
  /** The status that went to the client; 499 when it left first. */
  readonly status: number;
  /** Undefined for requests to no provider. */
  readonly provider: string | undefined;
  /** Of the provider's response; undefined when there was none. */
  readonly upstreamStatus?: number | undefined;
  /** The class of the failure between gateway and provider, such as `reset`. */
  readonly upstreamError?: string | undefined;
  readonly upstreamErrorDetail?: string | undefined;
  /** When the provider's part ended; undefined when it ended with the request. */
  readonly upstreamEndedAt?: number | undefined;
  readonly model?: string | undefined;
}

/** Prefixes by provider. Spec: G14.21. */
const PREFIXES: Readonly<Record<string, string>> = { openai: '/openai', anthropic: '/anthropic' };

const AUTH_ALLOWED: SpanResult = { attributes: { 'gateway.auth.result': 'allow' }, failure: undefined };

function authDenied(denial: SpanDenial): SpanResult {
  const reason = denial === 'unavailable' ? {} : { 'gateway.auth.deny_reason': denial };
  return { attributes: { 'gateway.auth.result': 'deny', ...reason }, failure: denial };
}

/** Of the server span. */
function requestResult(
  method: string,
  route: string,
  caller: SpanCaller | undefined,
  { status, upstreamError }: SpanEnd,
): SpanResult {
  const attributes: Attributes = {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    ...(upstreamError === undefined ? {} : { 'error.type': upstreamError }),
    ...(caller === undefined ? {} : callerAttributes(caller)),
  };
  return { attributes, failure: failureOf(status) };
}

function routeResult({ status, provider = UNKNOWN, org_id, workspace_id }: SpanEnd): SpanResult {
  const attributes = {
    'gateway.route.provider': provider,
    'gateway.route.prefix': PREFIXES[provider] ?? '/',
    ...tenantAttributes({ org_id, workspace_id }),
  };
  return { attributes, failure: failureOf(status) };
}

/** `genai`: whether it carries the attributes of the GenAI conventions. */
function upstreamResult(genai: boolean, call: UpstreamCall, end: SpanEnd): SpanResult {
  const { upstreamStatus: status, upstreamError, upstreamErrorDetail: detail = '' } = end;
  const failure = upstreamError ?? (status === undefined ? undefined : failureOf(status));
  const attributes: Attributes = {
    ...(genai ? genaiAttributes(call, end.model) : {}),
    ...(status === undefined ? {} : { 'http.response.status_code': status }),
    ...(failure === undefined ? {} : { 'error.type': upstreamError ?? String(status) }),
    ...(detail === '' ? {} : { 'gateway.upstream_error.detail': detail }),
  };
  return { attributes, failure };
}

function enqueueResult(isAccepted: boolean, tenant: SpanTenant): SpanResult {
  const result = isAccepted ? 'accepted' : 'dropped';
  const attributes = { 'gateway.trace.enqueue.result': result, ...tenantAttributes(tenant) };
  return { attributes, failure: isAccepted ? undefined : 'trace dropped' };
}

function callerAttributes({ org_id, workspace_id, key_id, role, correlationId }: SpanCaller): Attributes {
  return {
    'gateway.correlation_id': correlationId,
    ...tenantAttributes({ org_id, workspace_id }),
    'gateway.key_id': key_id,
    'gateway.role': role,
  };
}

function tenantAttributes({ org_id = UNKNOWN, workspace_id = UNKNOWN }: SpanTenant): Attributes {
  return { 'gateway.org_id': org_id, 'gateway.workspace_id': workspace_id };
}

/** A model is client input, so it is cut to the length of a label. */
function genaiAttributes({ provider, operation }: UpstreamCall, model: string | undefined): Attributes {
  return {
    'gen_ai.provider.name': provider,
    ...(operation === undefined ? {} : { 'gen_ai.operation.name': operation }),
    ...(model === undefined ? {} : { 'gen_ai.request.model': labelOf(model) }),
  };
}

/** Only a status of 5xx is a failure. Spec: G14.25. */
function failureOf(status: number): string | undefined {
  return status >= 500 ? `http ${status}` : undefined;
}
