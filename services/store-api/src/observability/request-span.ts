import { ServerSpan } from '@vitrine/telemetry/spans/server-span';
import type { SpanIds } from '@vitrine/telemetry/spans/ended-span';
import type { Tracer } from '@vitrine/telemetry/spans/tracer';
import type { ServedRequest } from '../http/request-events.ts';

const ADMISSION = { name: 'store_api.admit', kind: 'internal' as const, attributes: [], failure: undefined };
/** Methods that get a name of their own (OpenTelemetry: HTTP spans). */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);

/** Records the spans of a request that has been served, and returns their ids where they are sampled. */
export function recordRequestSpan(tracer: Tracer, served: ServedRequest): SpanIds | undefined {
  const { operationId, status, code, route, startedAt, admittedAt, endedAt } = served;
  const method = METHODS.has(served.method) ? served.method : '_OTHER';
  const span = new ServerSpan(tracer, startedAt, served.headers);
  const isFailure = status >= 500;
  const shape = tracer.shapes.of([method, route, operationId, status, code], () => ({
    name: `${method === '_OTHER' ? 'HTTP' : method} ${route}`,
    kind: 'server',
    attributes: [
      'http.request.method',
      method,
      'http.route',
      route,
      'vitrine.operation',
      operationId,
      'http.response.status_code',
      status,
      ...(code === '' ? [] : ['error.type', code]),
    ],
    failure: isFailure ? code : undefined,
  }));
  if (admittedAt !== undefined) span.recordChild(ADMISSION, startedAt, admittedAt);
  const key = served.keyId === undefined ? [] : ['vitrine.key_id', served.keyId];
  span.recordSelf(shape, ['vitrine.request_id', served.requestId, ...key], endedAt);
  return span.sampledIds;
}
