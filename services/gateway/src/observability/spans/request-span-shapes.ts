import { UNKNOWN } from '@vitrine/telemetry/metrics/bounded-names';
import type { SpanAttributes, SpanShape } from '@vitrine/telemetry/spans/ended-span';
import type { SpanShapes } from '@vitrine/telemetry/spans/span-shapes';

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
  /** The class of what broke between gateway and provider, such as `reset`; */
  readonly upstreamError?: string | undefined;
  /** and its message. */
  readonly upstreamErrorDetail?: string | undefined;
  /** When the provider's part ended; undefined: with the request. */
  readonly upstreamEndedAt?: number | undefined;
  readonly model?: string | undefined;
}

/** Prefixes by provider. Spec: gateway, Spans. */
const PREFIXES: Readonly<Record<string, string>> = { openai: '/openai', anthropic: '/anthropic' };

export const AUTH_ALLOWED = internalShape('gateway.auth', ['gateway.auth.result', 'allow'], undefined);

export function authDeniedShape(denial: 'unauthorized' | 'forbidden' | 'unavailable'): SpanShape {
  const reason = denial === 'unavailable' ? [] : ['gateway.auth.deny_reason', denial];
  return internalShape('gateway.auth', ['gateway.auth.result', 'deny', ...reason], denial);
}

export function serverShape(
  shapes: SpanShapes,
  method: string,
  route: string,
  caller: SpanCaller | undefined,
  { status, upstreamError }: SpanEnd,
): SpanShape {
  const { org_id = UNKNOWN, workspace_id = UNKNOWN, key_id = '', role = '' } = caller ?? {};
  const key = ['server', method, route, status, upstreamError, org_id, workspace_id, key_id, role];
  return shapes.of(key, () => {
    const attributes = ['http.request.method', method, 'http.route', route, 'http.response.status_code', status];
    if (upstreamError !== undefined) attributes.push('error.type', upstreamError);
    if (caller !== undefined) attributes.push(...tenantAttributes(caller), 'gateway.key_id', key_id, 'gateway.role', role);
    return { name: `${method} ${route}`, kind: 'server', attributes, failure: failureOf(status) };
  });
}

export function routeShape(shapes: SpanShapes, { status, provider = UNKNOWN, org_id, workspace_id }: SpanEnd): SpanShape {
  const failure = failureOf(status);
  return shapes.of(['route', provider, failure, org_id, workspace_id], () => {
    const attributes = ['gateway.route.provider', provider, 'gateway.route.prefix', PREFIXES[provider] ?? '/'];
    return internalShape('gateway.route', [...attributes, ...tenantAttributes({ org_id, workspace_id })], failure);
  });
}

/** `genai`: whether it carries the attributes of the GenAI conventions. */
export function upstreamShape(
  shapes: SpanShapes,
  method: string,
  route: string,
  genai: boolean,
  { provider, operation }: UpstreamCall,
  { upstreamStatus: status, upstreamError }: SpanEnd,
): SpanShape {
  return shapes.of(['upstream', method, route, provider, operation, status, upstreamError], () => {
    const name = `proxy ${method} ${route}`;
    const failure = upstreamError ?? (status === undefined ? undefined : failureOf(status));
    const attributes: (string | number)[] = genai ? ['gen_ai.provider.name', provider] : [];
    if (genai && operation !== undefined) attributes.push('gen_ai.operation.name', operation);
    if (status !== undefined) attributes.push('http.response.status_code', status);
    if (failure !== undefined) attributes.push('error.type', upstreamError ?? String(status));
    return { name, kind: 'client', attributes, failure };
  });
}

export function enqueueShape(shapes: SpanShapes, isAccepted: boolean, tenant: SpanTenant): SpanShape {
  const result = isAccepted ? 'accepted' : 'dropped';
  return shapes.of([result, tenant.org_id, tenant.workspace_id], () => {
    const attributes = ['gateway.trace.enqueue.result', result, ...tenantAttributes(tenant)];
    return internalShape('gateway.trace.enqueue', attributes, isAccepted ? undefined : 'trace dropped');
  });
}

function internalShape(name: string, attributes: SpanAttributes, failure: string | undefined): SpanShape {
  return { name, kind: 'internal', attributes, failure };
}

function tenantAttributes({ org_id = UNKNOWN, workspace_id = UNKNOWN }: SpanTenant): SpanAttributes {
  return ['gateway.org_id', org_id, 'gateway.workspace_id', workspace_id];
}

/** Only a status of 5xx is a failure. Spec: gateway, Spans. */
function failureOf(status: number): string | undefined {
  return status >= 500 ? `http ${status}` : undefined;
}
