import type { Provider } from '@vitrine/traces/trace';
import type { ClientConnections, RefusedMessage } from '@vitrine/http-api/connections/client-connections';
import { rejectRequest } from '@vitrine/http-api/connections/reject-request';
import type { ClientResponse } from '@vitrine/http-api/connections/client-response';
import type { Rejection } from '@vitrine/http-api/rejection';
import { requestError } from '@vitrine/http-api/server/request-error';
import type { IncomingMessage } from 'node:http';
import type { AuditTrail } from '../auth/audit/audit-trail.ts';
import { ANONYMOUS_CALLER, type Authenticate, type Caller } from '../auth/caller.ts';
import { KEY_IN_CREDENTIAL, type HasMisplacedKey } from '../auth/misplaced-key.ts';
import type { RateLimiter } from '../auth/rate-limiter.ts';
import type { TraceQueue } from '../recording/capture/trace-queue.ts';
import { CORRELATION_HEADER, correlationIdOf } from '../telemetry/correlation-id.ts';
import type { Gate } from '../limits/usage-gate.ts';
import { LIMIT_CHECK_UNAVAILABLE } from '../limits/limit-rejections.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';
import { Exchange } from './exchange/exchange.ts';
import { allowCrossOriginRead, isPreflight, respondToPreflight } from './preflight.ts';
import type { ProxiedRequest, ProxyContext, UpstreamRoute } from './exchange/proxy-context.ts';
import { providerCredential } from './routing/provider-credential.ts';
import { rejectedExchange } from './exchange/rejected-exchange.ts';
import { readTarget, routeUnder, type ProviderRoute } from './routing/request-target.ts';

/** Requests in flight at most; more are rejected with 503. */
const MAX_IN_FLIGHT = 16_384;

/** The checks between a client and a provider. */
export interface Admission {
  readonly authenticate: Authenticate;
  readonly hasMisplacedKey: HasMisplacedKey;
  readonly gate: Gate;
  readonly trail: Pick<AuditTrail, 'denied'>;
  /** Limits the traces of anonymous rejections. Spec: G11.12. */
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

/** Handles requests for a provider and requests that must be rejected. Returns whether it handled the request. Malformed requests are
 *  rejected before
 *  authentication; then come authentication, the bounds, and the usage limits.
 *  Runs before express, which costs more per request than all of this. Spec: G1.1, G2.14, G11.10, G11.11, G11.21, G11.23. */
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
    const reason = target.kind === 'refused' ? target.reason : requestError(request);
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
    if (admission.hasMisplacedKey(request)) return reject(proxied, provider, KEY_IN_CREDENTIAL, ANONYMOUS_CALLER);
    const caller = authenticate();
    if ('rejection' in caller) return reject(proxied, provider, caller.rejection, caller.caller);
    if (request.headers.upgrade?.toLowerCase().includes('websocket') === true)
      return reject(proxied, provider, NO_WEBSOCKET, caller);
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

/** After a 426, clients that can do without a WebSocket switch to HTTP at once. After other statuses they retry for seconds. RFC 9110, section
 *  15.5.22, requires the name of a protocol. */
const NO_WEBSOCKET: Rejection = {
  status: 426,
  error: 'WebSocket connections are not served: send the request over HTTP',
  headers: ['Upgrade', 'HTTP/1.1', 'Connection', 'Upgrade'],
};

/** Responds instead of the provider, and records a trace and, if there is a reason, an audit event. `isMalformed`: bytes after the request are
 *  never served as another request. */
function createReject(context: ProxyContext, admission: Admission) {
  return (
    proxied: ProxiedRequest,
    provider: Provider | undefined,
    rejection: Rejection,
    caller: Caller,
    isMalformed = false,
  ): true => {
    const { request, response, correlationId, telemetry } = proxied;
    const { status, reason } = rejection;
    // A malformed request was not searched for one.
    const isKeyMisplaced = rejection === KEY_IN_CREDENTIAL || (isMalformed && admission.hasMisplacedKey(request));
    // The key may be in the query, and the URL is logged and stored.
    if (isKeyMisplaced) request.url = request.url?.split('?', 1)[0];
    telemetry?.endsWith(response, true);
    rejectRequest(proxied, rejection, [CORRELATION_HEADER, correlationId], { isLast: isMalformed });
    audit(admission, proxied, caller, reason);
    // Only a request that could have a trace counts against the rate of anonymous traces.
    const isRecorded =
      provider !== undefined && (caller.scope !== ANONYMOUS_CALLER.scope || admission.anonymousRejections.take());
    if (!isRecorded) return true;
    const { scope } = caller;
    // Traces show the hash of a provider's credential, and never that of a gateway key.
    const credential = isKeyMisplaced ? '' : providerCredential(request.headers);
    const of = { provider, scope, status, correlationId, now: context.clock(), credential };
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

/** Leaves a trace of requests below a provider's prefix that could not be parsed, such as those with too many headers (431). Their headers
 *  are not trusted: with authentication on they belong to no tenant. They share the bound on traces of anonymous requests.
 *  Spec: G11.12, G11.13. */
export function createUnparsedHandler(
  routes: readonly ProviderRoute[],
  context: Pick<ProxyContext, 'clock' | 'headers' | 'onEnd'>,
  { authenticate, anonymousRejections }: Pick<Admission, 'authenticate' | 'anonymousRejections'>,
): (refused: RefusedMessage) => void {
  return ({ line, rejection: { status }, correlationId }) => {
    if (line === undefined) return;
    const { method, target: url } = line;
    const provider = routeUnder(url, routes)?.provider;
    if (provider === undefined) return;
    const verdict = authenticate({}, 'proxy:write');
    const { scope } = 'rejection' in verdict ? verdict.caller : verdict;
    if (scope === ANONYMOUS_CALLER.scope && !anonymousRejections.take()) return;
    const of = { provider, scope, status, correlationId, now: context.clock(), credential: '' };
    context.onEnd(rejectedExchange({ method, url, headers: {}, rawHeaders: [] }, of, context.headers), undefined);
  };
}
