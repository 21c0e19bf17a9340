import type { Provider } from '@vitrine/traces/trace';
import type { IncomingMessage } from 'node:http';
import type { AuditTrail } from '../auth/audit-trail.ts';
import { ANONYMOUS_CALLER, type Authenticate, type Caller } from '../auth/caller.ts';
import type { RateLimiter } from '../auth/rate-limiter.ts';
import type { TraceQueue } from '../capture/trace-queue.ts';
import type { ClientConnections } from '../http/client-connections.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { correlationIdOf } from '../http/correlation-id.ts';
import { drainRequest } from '../http/drain-request.ts';
import { sendJson, sendJsonAndClose } from '../http/send-json.ts';
import type { Gate } from '../limits/gate.ts';
import { LIMIT_CHECK_UNAVAILABLE } from '../limits/limit-rejections.ts';
import type { RequestTelemetry } from '../observability/request-telemetry.ts';
import { rejectionBody, type Rejection } from '../rejection.ts';
import { Exchange } from './exchange.ts';
import { allowCrossOriginRead, respondToPreflight, isPreflight } from './preflight.ts';
import type { ProxiedRequest, ProxyContext, UpstreamRoute } from './proxy-context.ts';
import { rejectedExchange } from './rejected-exchange.ts';
import { readTarget } from './request-target.ts';

/** Requests in flight at most; more are rejected with 503. */
const MAX_IN_FLIGHT = 16_384;

/** The checks between a client and a provider. */
export interface Admission {
  readonly authenticate: Authenticate;
  readonly gate: Gate;
  readonly trail: Pick<AuditTrail, 'denied'>;
  /** Limits the traces of anonymous rejections. Spec: gateway decisions, section 5. */
  readonly anonymousRejections: RateLimiter;
}

type HandleProxied = (
  request: IncomingMessage,
  response: ClientResponse,
  telemetry: RequestTelemetry | undefined,
  connections: ClientConnections,
  /** Set for a request that must not be served. */
  rejection?: Rejection,
) => boolean;

/** Handles requests for a provider and requests that must be rejected, and returns whether it did. Malformed requests are rejected before
 *  authentication; then come authentication, the bounds, and the usage limits.
 *  Runs before express, which costs more per request than all of this. Spec: gateway decisions, section 5. */
export function createProxy(
  routes: readonly UpstreamRoute[],
  context: ProxyContext,
  queue: TraceQueue,
  admission: Admission,
): HandleProxied {
  const reject = createReject(context, admission);
  const forward = (exchange: Exchange, path: string) => {
    if (queue.shouldDelay(context.deadlines.size)) void queue.room().then(() => exchange.forward(path));
    else exchange.forward(path);
  };

  return (request, response, telemetry, connections, rejection) => {
    const target = readTarget(request.url ?? '', routes);
    const reason =
      target.kind === 'refused' ? target.reason : (versionError(request) ?? hostError(request) ?? codingError(request));
    const invalid = reason === undefined ? rejection : { status: 400, error: reason };
    if (invalid === undefined && target.kind === 'other') return false;
    const provider = target.kind === 'other' ? undefined : target.route?.provider;
    telemetry?.belongsTo(provider);
    const correlationId = correlationIdOf(request.headers);
    const proxied: ProxiedRequest = { request, response, correlationId, telemetry, connections };
    if (request.headers.origin !== undefined && provider !== undefined) allowCrossOriginRead(response);
    const decide = () => admission.authenticate(request.headers, 'proxy:write', request.socket);
    const authenticate = () => (telemetry === undefined ? decide() : telemetry.authenticate(decide, correlationId));
    if (invalid !== undefined) {
      const verdict = provider === undefined ? ANONYMOUS_CALLER : authenticate();
      return reject(proxied, provider, invalid, 'rejection' in verdict ? verdict.caller : verdict, true);
    }
    if (target.kind !== 'upstream') return false;
    if (isPreflight(request)) {
      telemetry?.endsWith(response);
      respondToPreflight(request, response, correlationId);
      return true;
    }
    const caller = authenticate();
    if ('rejection' in caller) return reject(proxied, provider, caller.rejection, caller.caller);
    if (request.headers.upgrade?.toLowerCase().includes('websocket') === true)
      return reject(proxied, provider, { status: 501, error: 'WebSocket connections are not served' }, caller);
    if (context.deadlines.size >= MAX_IN_FLIGHT)
      return reject(proxied, provider, { status: 503, error: 'too many requests are in flight' }, caller);
    if (response.socket === null && connections.isCrowded(request))
      return reject(proxied, provider, { status: 503, error: 'too many pipelined requests on this connection' }, caller);

    const limited = caller.identity === undefined ? undefined : admission.gate(caller.identity);
    if (limited !== undefined && !('then' in limited)) return reject(proxied, provider, limited, caller);
    const { route, path } = target;
    const exchange = new Exchange(context, route, proxied, caller.scope, (reason) => audit(admission, proxied, caller, reason));
    if (limited === undefined) {
      forward(exchange, path);
      return true;
    }
    void limited.then(
      (late) => (late === undefined ? forward(exchange, path) : exchange.reject(late)),
      (bug: unknown) => {
        exchange.reject(LIMIT_CHECK_UNAVAILABLE);
        throw bug;
      },
    );
    return true;
  };
}

/** Responds in the provider's place, and records a trace and, when there is a reason, an audit record. `isMalformed`: bytes behind the
 *  request are not served as another request, whatever they look like. */
function createReject(context: ProxyContext, admission: Admission) {
  return (
    proxied: ProxiedRequest,
    provider: Provider | undefined,
    rejection: Rejection,
    caller: Caller,
    isMalformed = false,
  ): true => {
    const { request, response, correlationId, telemetry, connections } = proxied;
    const { status, headers, reason } = rejection;
    const body = rejectionBody(rejection);
    telemetry?.endsWith(response, true);
    if (isMalformed) {
      connections.stopServing(request.socket);
      drainRequest(request, sendJsonAndClose(response, status, body, correlationId));
    } else {
      drainRequest(request);
      sendJson(response, status, body, correlationId, headers);
    }
    audit(admission, proxied, caller, reason);
    // Only a request that could have a trace uses up the rate of anonymous traces.
    const isRecorded =
      provider !== undefined && (caller.scope !== ANONYMOUS_CALLER.scope || admission.anonymousRejections.take());
    if (!isRecorded) return true;
    const { scope } = caller;
    const of = { provider, scope, status, correlationId, now: Date.now() };
    context.onEnd(rejectedExchange(request, of, context.headers), telemetry);
    return true;
  };
}

function audit(
  { trail }: Admission,
  { request, correlationId, telemetry }: ProxiedRequest,
  caller: Caller,
  reason: string | undefined,
): void {
  if (reason === undefined) return;
  const denied = () => trail.denied({ method: request.method ?? '', path: request.url ?? '', correlationId }, caller, reason);
  if (telemetry === undefined) denied();
  else telemetry.run(denied);
}

/** Node takes a request line without a version for HTTP/0.9 and reads headers behind it, which such a request has none of; and HTTP/2.0 for a
 *  version of this syntax. */
function versionError({ httpVersionMajor }: IncomingMessage): string | undefined {
  return httpVersionMajor === 1 ? undefined : 'the request must be HTTP/1.1 or HTTP/1.0';
}

function hostError(request: IncomingMessage): string | undefined {
  const hosts = countHosts(request.rawHeaders);
  const isOne = hosts === 1 || (hosts === 0 && request.httpVersion === '1.0');
  return isOne ? undefined : 'the request must have one Host header';
}

/** Nobody here takes another coding off than chunked; one that stands last is no business of ours, node refuses it. HTTP/1.0 has none
 *  (RFC 9112, 6.1). */
function codingError({ headers, httpVersion }: IncomingMessage): string | undefined {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') return 'an HTTP/1.0 request must have no transfer coding';
  return /,\s*chunked$/i.test(coding) ? 'the request must have no transfer coding but chunked' : undefined;
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}
