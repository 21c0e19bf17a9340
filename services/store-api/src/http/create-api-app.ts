import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { ApiApp } from '@vitrine/http-api/api-app';
import type { Queryable } from '@vitrine/postgres/connection';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiRoute } from '../contract/api-exchange.ts';
import { errorBody } from '../contract/error-body.ts';
import { Exchange } from './exchange.ts';
import type { PlainOutcome, PlainRoute } from './plain-route.ts';
import { requestIdOf } from './request-id.ts';
import type { RequestEvents } from './request-events.ts';
import { requestTarget } from './request-target.ts';
import { Router } from './router.ts';
import { sendResponse } from './send-response.ts';

export interface ApiAppOptions {
  readonly routes: readonly ApiRoute[];
  readonly plainRoutes: readonly PlainRoute[];
  /** Of admission. */
  readonly database: Queryable;
  readonly hashes: TokenHashes;
  readonly events: RequestEvents;
  /** Of a whole request; 10 s unless given. */
  readonly timeoutMs?: number;
}

type Found = { readonly api: ApiRoute } | { readonly plain: PlainRoute };

/** The request handler of the store API: one table of routes, keys before everything below `/v1`, and the envelope for every error. */
export function createApiApp(options: ApiAppOptions): ApiApp {
  const router = new Router<Found>();
  for (const api of options.routes) {
    const { method, path, units } = api.operation;
    router.add(method, path, { api });
    // HEAD of what is billed would cost what it does not return.
    if (method === 'GET' && units.length === 0) router.add('HEAD', path, { api });
  }
  for (const plain of options.plainRoutes) for (const method of plain.methods) router.add(method, plain.path, { plain });

  return (request, response) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request.headers);
    const { path, search } = requestTarget(request.url ?? '');
    const match = router.find(path);
    const found = match?.routes.get(request.method ?? '');
    const params = match?.params ?? {};
    if (found !== undefined && 'plain' in found) {
      void servePlain(found.plain, request, response, { requestId, params, search, startedAt }, options.events);
      return;
    }
    const allow = match === undefined ? undefined : [...match.routes.keys()].join(', ');
    const isBelowVersion = path === '/v1' || path.startsWith('/v1/');
    const exchange = { requestId, params, search, path, allow, isBelowVersion, startedAt };
    void new Exchange(options, request, response, exchange, found?.api).serve();
  };
}

async function servePlain(
  route: PlainRoute,
  request: IncomingMessage,
  response: ServerResponse,
  exchange: { requestId: string; params: Record<string, string | undefined>; search: string; startedAt: number },
  events: RequestEvents,
): Promise<void> {
  const { path } = route;
  const { requestId, startedAt } = exchange;
  let outcome: PlainOutcome | void = undefined;
  let error: unknown;
  try {
    outcome = await route.handle(request, response, exchange);
  } catch (thrown) {
    error = thrown;
    if (response.headersSent) response.destroy();
    else {
      const body = JSON.stringify(errorBody('internal', 'The service failed; retry once after a few seconds.', requestId));
      sendResponse(request, response, { status: 500, headers: ['X-Request-Id', requestId], body, type: 'application/json' });
    }
  }
  events.served({
    requestId,
    operationId: outcome?.operationId ?? route.operationId,
    method: request.method ?? '',
    route: path,
    headers: request.headers,
    status: outcome?.status ?? response.statusCode,
    code: error === undefined ? (outcome?.code ?? '') : 'internal',
    reason: undefined,
    workspaceId: undefined,
    keyId: undefined,
    startedAt,
    admittedAt: undefined,
    endedAt: performance.now(),
    billed: {},
    replayOf: undefined,
    error,
  });
}
