import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from '@vitrine/telemetry/logger';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { correlationIdReader } from './correlation-id.ts';
import { type FaultStatuses, sendFault } from './send-fault.ts';
import type { ApiDescription, DocumentedRoute } from './openapi/openapi-document.ts';
import { NO_QUERY, parseSearch, readQuery } from './requests/query-shapes.ts';
import { readJsonBody } from './requests/read-json-body.ts';
import { methodsOf, type Operation, type Route } from './route.ts';
import { z } from 'zod';

export interface ApiAppOptions<Identity, Permission extends string> {
  readonly logger: Logger;
  readonly description: ApiDescription;
  readonly faults?: FaultStatuses;
  /** Request headers that pages of other origins may send beside `Content-Type`. */
  readonly allowedHeaders?: readonly string[];
  /** Returns the sender of a request. Throws a fault without the permission. */
  readonly authorize: (request: Request, permission: Permission, correlationId: string) => Identity | undefined;
  readonly rawRoutes?: readonly RawRoute<Permission>[] | undefined;
}

/** A GET that writes its own response and is not in the OpenAPI document, such as a scrape or a probe. It may have any query. */
export interface RawRoute<Permission extends string = never> {
  readonly path: string;
  readonly permission: Permission | 'public';
  readonly respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** Statuses of a service without its own fault codes. */
const NO_FAULTS: FaultStatuses = { statuses: {}, expected: [] };

export type ApiApp = (request: IncomingMessage, response: ServerResponse) => void;

/** An express application without default headers and with exact paths: `/api/traces/` differs from `/api/traces`. */
export function createExpressApp(parseQuery: false | typeof parseSearch): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', parseQuery);
  return app;
}

/** An express application for the routes below `/` and `/api`, and for their OpenAPI document. Every path responds to OPTIONS with 204, to other
 *  methods with 405 and `Allow`; unknown query parameters are rejected; errors are always JSON. */
export function createApiApp<Identity = unknown, Permission extends string = never>(
  routes: readonly Route<Identity, Permission>[],
  options: ApiAppOptions<Identity, Permission>,
): ApiApp {
  const { correlationHeader } = options.description;
  const correlationIdOf = correlationIdReader(correlationHeader);
  const app = createExpressApp(parseSearch);
  const allowedHeaders = ['Content-Type', ...(options.allowedHeaders ?? [])].join(', ');
  app.use((request, response, next) => {
    response.setHeader(correlationHeader, correlationIdOf(request.headers));
    if (request.path === '/api' || request.path.startsWith('/api/')) allowAnyOrigin(response, allowedHeaders);
    next();
  });
  for (const route of [...routes, openapiRoute(routes, options.description)]) app.all(route.path, serveRoute(route, options));
  for (const route of options.rawRoutes ?? []) app.all(route.path, serveRawRoute(route, options));
  // Preflight requests succeed for every path below /api, even if it does not exist.
  app.options('/api/{*path}', (_request, response) => void response.status(204).end());
  app.use((_request, response) => void response.status(404).json({ error: 'not found' }));
  app.use((error: unknown, request: Request, response: Response, next: (error: unknown) => void) => {
    if (response.headersSent) next(error);
    else sendFault(error, request, response, { faults: NO_FAULTS, ...options, correlationHeader });
  });
  return (request, response) => void app(request, response);
}

function allowAnyOrigin(response: Response, allowedHeaders: string): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, DELETE, OPTIONS');
  response.setHeader('Access-Control-Allow-Headers', allowedHeaders);
}

function serveRoute<Identity, Permission extends string>(
  route: Route<Identity, Permission>,
  options: ApiAppOptions<Identity, Permission>,
): RequestHandler {
  const allow = methodsOf(route).join(', ');
  return async (request, response) => {
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const operation = method === 'GET' || method === 'POST' || method === 'DELETE' ? route[method] : undefined;
    if (operation !== undefined) await serveOperation(operation, request, response, options);
    else if (method === 'OPTIONS' && route.path !== '/') response.status(204).end();
    else rejectMethod(response, allow);
  };
}

async function serveOperation<Identity, Permission extends string>(
  operation: Operation<Identity, Permission>,
  request: Request,
  response: Response,
  { authorize, description }: ApiAppOptions<Identity, Permission>,
): Promise<void> {
  const { permission, query = NO_QUERY, body } = operation;
  const correlationId = String(response.getHeader(description.correlationHeader));
  const identity = permission === 'public' ? undefined : authorize(request, permission, correlationId);
  const result = await operation.handle({
    params: request.params as Record<string, string>,
    query: readQuery(query, request.query),
    body: body === undefined ? undefined : await readJsonBody(request, body),
    identity,
    correlationId,
  });
  response.status(operation.status);
  if (operation.status === 204) response.end();
  else if (result instanceof Uint8Array)
    response.type('json').send(Buffer.from(result.buffer, result.byteOffset, result.byteLength));
  else response.json(result);
}

function serveRawRoute<Identity, Permission extends string>(
  route: RawRoute<Permission>,
  { authorize, description }: ApiAppOptions<Identity, Permission>,
): RequestHandler {
  return async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return rejectMethod(response, 'GET, HEAD');
    const correlationId = String(response.getHeader(description.correlationHeader));
    if (route.permission !== 'public') authorize(request, route.permission, correlationId);
    await route.respond(request, response);
  };
}

function rejectMethod(response: Response, allow: string): void {
  response.status(405).setHeader('Allow', allow).json({ error: 'method not allowed' });
}

const document = z
  .looseObject({
    openapi: z.string(),
    info: z.looseObject({ title: z.string(), version: z.string() }),
    paths: z.record(z.string(), z.unknown()),
    components: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'OpenApiDocument', description: 'An OpenAPI 3.1 document.' });

/** `GET /api/openapi.json`: the document of `routes` and of itself, generated when it is first requested. */
function openapiRoute(routes: readonly DocumentedRoute[], description: ApiDescription): Route {
  let described: Promise<object> | undefined;
  const describe = async () => {
    const { describeApi } = await import('./openapi/openapi-document.ts');
    return describeApi([...routes, route], description);
  };
  const route: Route = {
    path: '/api/openapi.json',
    GET: {
      summary: 'Describes this API.',
      permission: 'public',
      status: 200,
      response: document,
      errors: [],
      handle: () => (described ??= describe()),
    },
  };
  return route;
}
