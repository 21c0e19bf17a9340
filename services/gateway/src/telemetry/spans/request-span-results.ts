import type { Attributes } from '@opentelemetry/api';
import { labelOf, UNKNOWN } from '@vitrine/telemetry/metrics/bounded-names';
import type { SpanResult } from '@vitrine/telemetry/spans/server-span';

/** Tenant of a request; what is missing is `unknown`. */
export interface SpanTenant {
  readonly org_id: string | undefined;
  readonly workspace_id: string | undefined;
}

/** The caller whose key was accepted. */
export interface SpanCaller extends SpanTenant {
  readonly key_id: string;
  readonly role: string;
  readonly correlationId: string;
}

/** Why a key was not accepted. */
export type SpanDenial = 'unauthorized' | 'forbidden' | 'unavailable';

/** A request to a provider. */
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
  /** Of the provider's response; undefined when there was none. */
  readonly upstreamStatus?: number | undefined;
  /** The class of what broke between gateway and provider, such as `reset`. */
  readonly upstreamError?: string | undefined;
  readonly upstreamErrorDetail?: string | undefined;
  /** When the provider's part ended; undefined: with the request. */
  readonly upstreamEndedAt?: number | undefined;
  readonly model?: string | undefined;
}

/** Prefixes by provider. Spec: G14.21. */
const PREFIXES: Readonly<Record<string, string>> = { openai: '/openai', anthropic: '/anthropic' };

export const AUTH_ALLOWED: SpanResult = { attributes: { 'gateway.auth.result': 'allow' }, failure: undefined };

export function authDenied(denial: SpanDenial): SpanResult {
  const reason = denial === 'unavailable' ? {} : { 'gateway.auth.deny_reason': denial };
  return { attributes: { 'gateway.auth.result': 'deny', ...reason }, failure: denial };
}

/** Of the server span. */
export function requestResult(
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

export function routeResult({ status, provider = UNKNOWN, org_id, workspace_id }: SpanEnd): SpanResult {
  const attributes = {
    'gateway.route.provider': provider,
    'gateway.route.prefix': PREFIXES[provider] ?? '/',
    ...tenantAttributes({ org_id, workspace_id }),
  };
  return { attributes, failure: failureOf(status) };
}

/** `genai`: whether it carries the attributes of the GenAI conventions. */
export function upstreamResult(genai: boolean, call: UpstreamCall, end: SpanEnd): SpanResult {
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

export function enqueueResult(isAccepted: boolean, tenant: SpanTenant): SpanResult {
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

/** A model is a client's text: as short as in a label. */
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
