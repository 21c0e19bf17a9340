import { createExpressApp, type ApiApp } from '@vitrine/http-api/api-app';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { ApiRoute } from '../contract/operation.ts';
import { Exchange, type Arrival, type ExchangeOptions } from './exchange.ts';
import { type PlainRoute, type RouteMethod, sendFailure, servePlain } from './plain-route.ts';
import { requestIdOf } from './envelope-rejections.ts';

export interface ApiAppOptions extends ExchangeOptions {
  readonly routes: readonly ApiRoute[];
  readonly plainRoutes: readonly PlainRoute[];
}

type Handler = RequestHandler<Params, unknown, unknown, unknown, Arrival>;
type Params = Record<string, string>;

const VERBS = { GET: 'get', HEAD: 'head', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

/** The express application of the store API: one table of routes, key checks before everything below `/v1`, and the envelope for every error. */
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

// Express decodes parameters while it looks for a route, and stops where one is malformed, before the key of the request was checked. What it decodes
// here is the text that was sent, which handlers get decoded after that.

/** The URL by which express finds the route of a path. It parses what starts with no slash by rules of its own; `*` has no route. */
export function routedUrl(path: string): string {
  return path.startsWith('/') ? path.replaceAll('%', '%25') : '*';
}

/** `/v1/stores/{domain}` as express writes it. */
function routeTemplate(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** The parameters of a routed URL, decoded; what was malformed is undefined. */
export function decodedParams(params: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(params).map(([name, sent]) => [name, decoded(sent)]));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The path and the query of a request target, both undecoded; that of the absolute form (RFC 9112, 3.2.2) without its origin. */
export function requestTarget(url: string): { readonly path: string; readonly search: string } {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const [whole = ''] = target.split('#', 1);
  const at = whole.indexOf('?');
  return at === -1 ? { path: whole, search: '' } : { path: whole.slice(0, at), search: whole.slice(at + 1) };
}
