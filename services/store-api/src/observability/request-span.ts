import type { Tracer } from '@opentelemetry/api';
import type { SpanIds } from '@vitrine/telemetry/active-span';
import { ServerSpan } from '@vitrine/telemetry/spans/server-span';
import type { ServedRequest } from '../http/request-events.ts';

/** Methods that get a name of their own (OpenTelemetry: HTTP spans). */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);

/** Records the spans of a request that has been served, and returns their ids where they are sampled. */
export function recordRequestSpan(tracer: Tracer, served: ServedRequest): SpanIds | undefined {
  const { operationId, status, code, route, startedAt, admittedAt, endedAt } = served;
  const method = METHODS.has(served.method) ? served.method : '_OTHER';
  const span = new ServerSpan(tracer, `${method === '_OTHER' ? 'HTTP' : method} ${route}`, startedAt, served.headers);
  if (admittedAt !== undefined) span.recordChild({ name: 'store_api.admit', startedAt, endedAt: admittedAt });
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'vitrine.operation': operationId,
    'http.response.status_code': status,
    ...(code === '' ? {} : { 'error.type': code }),
    'vitrine.request_id': served.requestId,
    ...(served.keyId === undefined ? {} : { 'vitrine.key_id': served.keyId }),
  };
  span.end(endedAt, { attributes, failure: status >= 500 ? code : undefined });
  return span.sampledIds;
}
