import { createExpressApp, type ApiApp } from '@vitrine/http-api/api-app';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { ApiRoute } from '../contract/api-exchange.ts';
import { Exchange, type Arrival, type ExchangeOptions } from './exchange.ts';
import type { PlainRoute, RouteMethod } from './plain-route.ts';
import { requestIdOf } from './envelope-rejections.ts';
import { requestTarget, decodedParams, routedUrl, routeTemplate } from './routed-url.ts';
import { sendFailure, servePlain } from './serve-plain.ts';

export interface ApiAppOptions extends ExchangeOptions {
  readonly routes: readonly ApiRoute[];
  readonly plainRoutes: readonly PlainRoute[];
}

type Handler = RequestHandler<Params, unknown, unknown, unknown, Arrival>;
type Params = Record<string, string>;

const VERBS = { GET: 'get', HEAD: 'head', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

/**
 * The express application of the store API: one table of routes, key checks before everything below `/v1`, and the envelope for every
 * error.
 */
export function createApiApp(options: ApiAppOptions): ApiApp {
  const app = createExpressApp(false);
  for (const [path, handlers] of handlersByPath(options)) {
    const rejectMethod = exchangeHandler(options, undefined, [...handlers.keys()].join(', '));
    const route = app.route(routeTemplate(path));
    for (const [method, handler] of handlers) route[VERBS[method]](handler);
    // Express would serve HEAD as GET.
    if (!handlers.has('HEAD')) route.head(rejectMethod);
    // Includes OPTIONS, to which express would respond itself.
    route.all(rejectMethod);
  }
  app.use(exchangeHandler(options, undefined, undefined));
  app.use(bugHandler(options));
  return (request, response) => {
    const startedAt = performance.now();
    const { path, search } = requestTarget(request.url ?? '');
    const locals: Arrival = { requestId: requestIdOf(request.headers), path, search, startedAt };
    request.url = routedUrl(path);
    app(request, Object.assign(response, { locals }));
  };
}

/** Exact paths come before those with parameters: express uses the first match. */
function handlersByPath(options: ApiAppOptions): [string, Map<RouteMethod, Handler>][] {
  const paths = new Map<string, Map<RouteMethod, Handler>>();
  const add = (method: RouteMethod, path: string, handler: Handler) => {
    const handlers = paths.get(path) ?? new Map<RouteMethod, Handler>();
    paths.set(path, handlers.set(method, handler));
  };
  for (const api of options.routes) {
    const { method, path, units } = api.operation;
    const handler = exchangeHandler(options, api, undefined);
    add(method, path, handler);
    // A billed HEAD would charge for a body that it does not return.
    if (method === 'GET' && units.length === 0) add('HEAD', path, handler);
  }
  for (const plain of options.plainRoutes)
    for (const method of plain.methods) add(method, plain.path, plainHandler(options, plain));
  return [...paths].toSorted(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')));
}

/** `route`: undefined for rejected requests. `allow`: the allowed methods of a path without this one; undefined for an unknown path. */
function exchangeHandler(options: ApiAppOptions, route: ApiRoute | undefined, allow: string | undefined): Handler {
  return (request, response) => {
    const { path } = response.locals;
    const isBelowVersion = path === '/v1' || path.startsWith('/v1/');
    const target = { ...response.locals, params: decodedParams(request.params), allow, isBelowVersion };
    return new Exchange(options, request, response, target, route).serve();
  };
}

function plainHandler({ events }: ApiAppOptions, route: PlainRoute): Handler {
  return (request, response) => {
    const exchange = { ...response.locals, params: decodedParams(request.params) };
    return servePlain(route, request, response, exchange, events);
  };
}

/** Handlers respond to their own errors, so any error here is a bug. Express recognises an error handler by its four parameters. */
function bugHandler({ events }: ApiAppOptions): ErrorRequestHandler<Params, unknown, unknown, unknown, Arrival> {
  return (error: unknown, request, response, _next) => {
    events.responseFailed(error);
    void sendFailure(request, response, response.locals.requestId, error);
  };
}
