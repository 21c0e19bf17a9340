import type { CapturedBody, CapturedExchange } from '@vitrine/traces/captured-exchange';
import { DEFAULT_SCOPE } from '@vitrine/traces/exchange-scope';
import type { Provider } from '@vitrine/traces/trace';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TraceQueue } from '../capture/trace-queue.ts';
import { correlationIdOf } from '../http/correlation-id.ts';
import { answerJson } from '../http/json-answer.ts';
import { Exchange, type ProxyTools, type UpstreamRoute } from './exchange.ts';
import { readRequestHeaders } from './forwarded-headers.ts';
import { providerCredential } from './provider-credential.ts';
import { readTarget } from './request-target.ts';

/** Requests in flight at most; more are refused with 503. */
const MAX_IN_FLIGHT = 16_384;
const NO_BODY: CapturedBody = { part: 'body', chunks: [], bytes: 0, kind: undefined, coding: '', facts: undefined };

/** Handles a request when it belongs to a provider, or may go nowhere; answers whether it did.
 *  Runs before express, which costs more per request than all of this. Spec: gateway decisions, section 5. */
export function createProxy(
  routes: readonly UpstreamRoute[],
  tools: ProxyTools,
  queue: TraceQueue,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const reject = (
    request: IncomingMessage,
    response: ServerResponse,
    provider: Provider | undefined,
    status: number,
    error: string,
  ) => {
    const correlationId = correlationIdOf(request.headers);
    // What is left of the body is not waited for.
    answerJson(response, status, { error }, correlationId, request.complete ? [] : ['Connection', 'close']);
    if (provider !== undefined) tools.onEnd(rejectedExchange(request, provider, status, correlationId));
    return true;
  };

  return (request, response) => {
    const target = readTarget(request.url ?? '', routes);
    if (target.kind === 'refused') return reject(request, response, target.route?.provider, 400, target.reason);
    const hosts = countHosts(request.rawHeaders);
    const provider = target.kind === 'upstream' ? target.route.provider : undefined;
    if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0'))
      return reject(request, response, provider, 400, 'the request must have one Host header');
    if (target.kind === 'other') return false;
    if (request.headers.upgrade?.toLowerCase() === 'websocket') {
      return reject(request, response, provider, 501, 'WebSocket connections are not served');
    }
    if (tools.deadlines.size >= MAX_IN_FLIGHT) return reject(request, response, provider, 503, 'too many requests are in flight');
    const { route, path } = target;
    const exchange = new Exchange(tools, route, request, response, correlationIdOf(request.headers));
    if (queue.shouldDelay(tools.deadlines.size)) void queue.room().then(() => exchange.forward(path));
    else exchange.forward(path);
    return true;
  };
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

/** A rejection has no bodies. */
function rejectedExchange(request: IncomingMessage, provider: Provider, status: number, correlationId: string): CapturedExchange {
  const now = Date.now();
  const headers = readRequestHeaders(request.rawHeaders, undefined);
  return {
    provider,
    scope: DEFAULT_SCOPE,
    method: request.method ?? '',
    path: request.url ?? '',
    sentStatus: status,
    outcome: 'rejected',
    startedAt: now,
    endedAt: now,
    latencyUs: 0,
    firstByteUs: 0,
    correlationId,
    requestHeaders: headers.stored,
    responseHeaders: '',
    secretHeaders: headers.secrets,
    hasLineage: headers.hasOwn,
    credential: providerCredential(request.headers),
    request: NO_BODY,
    response: NO_BODY,
    responseChunks: 0,
  };
}
