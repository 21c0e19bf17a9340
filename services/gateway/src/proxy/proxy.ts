import type { Provider } from '@vitrine/traces/trace';
import type { IncomingMessage } from 'node:http';
import type { AuditTrail } from '../auth/audit-trail.ts';
import { NOBODY, type Authenticate, type Caller } from '../auth/caller.ts';
import type { PerSecond } from '../auth/per-second.ts';
import type { TraceQueue } from '../capture/trace-queue.ts';
import type { ClientConnections } from '../http/client-connections.ts';
import type { ClientResponse, HttpRejection } from '../http/client-response.ts';
import { correlationIdOf } from '../http/correlation-id.ts';
import { drainRequest } from '../http/drain-request.ts';
import { answerJson, answerJsonAndClose } from '../http/json-answer.ts';
import type { RequestWatch } from '../observability/request-watch.ts';
import { Exchange } from './exchange.ts';
import type { Gate, GateRefusal } from './gate.ts';
import { allowReading, answerPreflight, isPreflight } from './preflight.ts';
import type { AskedExchange, ProxyTools, UpstreamRoute } from './proxy-tools.ts';
import { rejectedExchange } from './rejected-exchange.ts';
import { readTarget } from './request-target.ts';

/** Requests in flight at most; more are refused with 503. */
const MAX_IN_FLIGHT = 16_384;

/** What is between a client and a provider. */
export interface ProxyDoor {
  readonly authenticate: Authenticate;
  readonly gate: Gate;
  readonly trail: Pick<AuditTrail, 'denied'>;
  /** Which rejections of nobody leave a trace. Spec: gateway decisions, section 5. */
  readonly strangers: PerSecond;
}

type Refusal = Omit<GateRefusal, 'reason'>;

/** What a gate answers that broke. Spec: gateway, Limits, rule 8. */
const UNCHECKED: GateRefusal = {
  status: 503,
  body: { error: 'gateway usage limit check unavailable' },
  headers: [],
  reason: 'limit_check_unavailable',
};

type HandleProxied = (
  request: IncomingMessage,
  response: ClientResponse,
  watch: RequestWatch | undefined,
  connections: ClientConnections,
  /** Of a request that Node does not serve. */
  rejection?: HttpRejection,
) => boolean;

/** Handles a request when it belongs to a provider, or may go nowhere, or is not served at all; answers whether it did. What is no sound request is refused
 *  before anybody asks whose it is; then come the key, the bounds, the gate.
 *  Runs before express, which costs more per request than all of this. Spec: gateway decisions, section 5. */
export function createProxy(
  routes: readonly UpstreamRoute[],
  tools: ProxyTools,
  queue: TraceQueue,
  door: ProxyDoor,
): HandleProxied {
  const reject = createReject(tools, door);
  const forward = (exchange: Exchange, path: string) => {
    if (queue.shouldDelay(tools.deadlines.size)) void queue.room().then(() => exchange.forward(path));
    else exchange.forward(path);
  };

  return (request, response, watch, connections, rejection) => {
    const target = readTarget(request.url ?? '', routes);
    const reason = target.kind === 'refused' ? target.reason : (versionFlaw(request) ?? hostFlaw(request) ?? codingFlaw(request));
    const flaw = reason === undefined ? rejection : { status: 400, error: reason };
    if (flaw === undefined && target.kind === 'other') return false;
    const provider = target.kind === 'other' ? undefined : target.route?.provider;
    watch?.belongsTo(provider);
    const correlationId = correlationIdOf(request.headers);
    const asked: AskedExchange = { request, response, correlationId, watch, connections };
    if (request.headers.origin !== undefined && provider !== undefined) allowReading(response);
    const decide = () => door.authenticate(request.headers, 'proxy:write', request.socket);
    const authenticate = () => (watch === undefined ? decide() : watch.authenticate(decide, correlationId));
    if (flaw !== undefined) {
      const verdict = provider === undefined ? NOBODY : authenticate();
      return reject(asked, provider, refusal(flaw.status, flaw.error), 'status' in verdict ? verdict.caller : verdict, true);
    }
    if (target.kind !== 'upstream') return false;
    if (isPreflight(request)) {
      watch?.endsWith(response);
      answerPreflight(request, response, correlationId);
      return true;
    }
    const caller = authenticate();
    if ('status' in caller) {
      const { status, error, reason, caller: denied } = caller;
      return reject(asked, provider, { ...refusal(status, error), reason }, denied);
    }
    if (request.headers.upgrade?.toLowerCase().includes('websocket') === true)
      return reject(asked, provider, refusal(501, 'WebSocket connections are not served'), caller);
    if (tools.deadlines.size >= MAX_IN_FLIGHT)
      return reject(asked, provider, refusal(503, 'too many requests are in flight'), caller);
    if (response.socket === null && connections.isCrowded(request))
      return reject(asked, provider, refusal(503, 'too many pipelined requests on this connection'), caller);

    const stopped = caller.identity === undefined ? undefined : door.gate(caller.identity);
    if (stopped !== undefined && !('then' in stopped)) return reject(asked, provider, stopped, caller);
    const { route, path } = target;
    const exchange = new Exchange(tools, route, asked, caller.scope, (reason) => audit(door, asked, caller, reason));
    if (stopped === undefined) {
      forward(exchange, path);
      return true;
    }
    void stopped.then(
      (late) => (late === undefined ? forward(exchange, path) : exchange.refuse(late)),
      (bug: unknown) => {
        exchange.refuse(UNCHECKED);
        throw bug;
      },
    );
    return true;
  };
}

/** Answers in the provider's place, and leaves a trace and, when there is a reason, an audit record. `isFlawed`: what came in one piece with the
 *  request is no request, whatever it looks like. */
function createReject(tools: ProxyTools, door: ProxyDoor) {
  return (
    asked: AskedExchange,
    provider: Provider | undefined,
    { status, body, headers, reason }: Refusal & { reason?: string },
    caller: Caller,
    isFlawed = false,
  ): true => {
    const { request, response, correlationId, watch, connections } = asked;
    watch?.endsWith(response, true);
    if (isFlawed) {
      connections.stopServing(request.socket);
      drainRequest(request, answerJsonAndClose(response, status, body, correlationId));
    } else {
      drainRequest(request);
      answerJson(response, status, body, correlationId, headers);
    }
    if (reason !== undefined) audit(door, asked, caller, reason);
    // Only what could have a trace uses up what may have one.
    const isKept = provider !== undefined && (caller.scope !== NOBODY.scope || door.strangers.take());
    if (!isKept) return true;
    const { scope } = caller;
    const of = { provider, scope, status, correlationId, now: Date.now() };
    tools.onEnd(rejectedExchange(request, of, tools.headers), watch);
    return true;
  };
}

function audit({ trail }: ProxyDoor, { request, correlationId, watch }: AskedExchange, caller: Caller, reason: string): void {
  const denied = () => trail.denied({ method: request.method ?? '', path: request.url ?? '', correlationId }, caller, reason);
  if (watch === undefined) denied();
  else watch.run(denied);
}

function refusal(status: number, error: string): Refusal {
  return { status, body: { error }, headers: [] };
}

/** Node takes a request line without a version for HTTP/0.9 and reads headers behind it, which such a request has none of; and HTTP/2.0 for a
 *  version of this syntax. */
function versionFlaw({ httpVersionMajor }: IncomingMessage): string | undefined {
  return httpVersionMajor === 1 ? undefined : 'the request must be HTTP/1.1 or HTTP/1.0';
}

function hostFlaw(request: IncomingMessage): string | undefined {
  const hosts = countHosts(request.rawHeaders);
  const isOne = hosts === 1 || (hosts === 0 && request.httpVersion === '1.0');
  return isOne ? undefined : 'the request must have one Host header';
}

/** Nobody here takes another coding off than chunked; one that stands last is no business of ours, node refuses it. HTTP/1.0 has none
 *  (RFC 9112, 6.1). */
function codingFlaw({ headers, httpVersion }: IncomingMessage): string | undefined {
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
