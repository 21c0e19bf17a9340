import { codeOf, isFault } from '@vitrine/faults/fault';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from '@vitrine/telemetry/logger';
import { scrub } from '@vitrine/privacy/scrub';
import type { Identity } from '@vitrine/gateway-keys/identity';
import type { Permission } from '@vitrine/gateway-keys/permission';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { RequestTelemetry } from '../observability/request-telemetry.ts';
import type { ScrapeEndpoint } from '../observability/scrape-endpoint.ts';
import { methodsOf, type AdminRoute, type Operation } from './admin-route.ts';
import { CORRELATION_HEADER, correlationIdOf } from './correlation-id.ts';
import { isRefusal, statusOf } from './fault-statuses.ts';
import { describedRoutes } from './openapi-route.ts';
import { NO_QUERY, readQuery } from './query-shapes.ts';
import { readJsonBody } from './read-json-body.ts';

export interface AdminContext {
  readonly logger: Logger;
  /** Who asks; undefined with authentication off. Faults: `unauthorized`, `forbidden`, `key_verification_unavailable`. */
  readonly authorize: (request: AuthorizedRequest, permission: Permission) => Identity | undefined;
  /** The header that carries gateway keys. */
  readonly keyHeader: string;
  /** Of the gateway, for the API's description. */
  readonly version: string;
  /** Undefined unless it is on. */
  readonly scrape?: ScrapeEndpoint | undefined;
}

/** What is needed of a request to tell whether its sender may. */
export interface AuthorizedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  readonly path: string;
  readonly correlationId: string;
  readonly telemetry: RequestTelemetry | undefined;
}

type AdminApp = (request: IncomingMessage, response: ServerResponse, telemetry?: RequestTelemetry) => void;

const ALLOWED_HEADERS = ['Content-Type', 'Authorization', 'X-API-Key', 'X-Svc-Gateway-Key'];

/** The express application behind `/` and `/api`, with a description of itself. Every route answers OPTIONS with 204, other methods with 405 and `Allow`;
 *  a query parameter that an operation does not have is refused; errors are always JSON. Spec: gateway, Endpoints. */
export function createAdminApp(routes: readonly AdminRoute[], tools: AdminContext): AdminApp {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  // `/api/traces/` is another path than `/api/traces`, and there is nothing.
  app.enable('strict routing');
  // The usual parser drops what comes after a thousand parameters, empty ones too; a request's head bounds them already.
  app.set('query parser', (query: string) => parse(query, '&', '=', { maxKeys: 0 }));
  const allowedHeaders = allowedHeadersWith(tools.keyHeader);
  app.use((request, response, next) => {
    response.setHeader(CORRELATION_HEADER, correlationIdOf(request.headers));
    if (request.path === '/api' || request.path.startsWith('/api/')) allowAnyOrigin(response, allowedHeaders);
    next();
  });
  for (const route of describedRoutes(routes, tools)) app.all(route.path, answerRoute(route, tools));
  if (tools.scrape !== undefined) app.all(tools.scrape.path, answerScrape(tools.scrape, tools));
  // Preflight goes for every path below /api, also those that do not exist.
  app.options('/api/{*path}', (_request, response) => void response.status(204).end());
  app.use((_request, response) => void response.status(404).json({ error: 'not found' }));
  app.use((error: unknown, request: Request, response: Response, next: (error: unknown) => void) => {
    if (response.headersSent) next(error);
    else answerFault(error, request, response, tools.logger);
  });
  return (request, response, telemetry) => {
    telemetry?.endsWith(response);
    const answer = () => void app(request, Object.assign(response, { locals: { watch: telemetry } }));
    if (telemetry === undefined) answer();
    else telemetry.run(answer);
  };
}

function allowedHeadersWith(keyHeader: string): string {
  const isThere = ALLOWED_HEADERS.some((name) => name.toLowerCase() === keyHeader.toLowerCase());
  return [...ALLOWED_HEADERS, ...(isThere ? [] : [keyHeader])].join(', ');
}

function allowAnyOrigin(response: Response, allowedHeaders: string): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, DELETE, OPTIONS');
  response.setHeader('Access-Control-Allow-Headers', allowedHeaders);
}

function answerRoute(route: AdminRoute, tools: AdminContext): RequestHandler {
  const allow = methodsOf(route).join(', ');
  return async (request, response) => {
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const asked = method === 'GET' || method === 'POST' || method === 'DELETE' ? route[method] : undefined;
    if (asked !== undefined) await answerOperation(asked, request, response, tools);
    else if (method === 'OPTIONS' && route.path !== '/') response.status(204).end();
    else response.status(405).setHeader('Allow', allow).json({ error: 'method not allowed' });
  };
}

async function answerOperation(asked: Operation, request: Request, response: Response, tools: AdminContext): Promise<void> {
  const correlationId = correlationIdIn(response);
  const identity = asked.permission === 'public' ? undefined : tools.authorize(askedBy(request, response), asked.permission);
  const answer = await asked.handle({
    params: request.params as Record<string, string>,
    query: readQuery(asked.query ?? NO_QUERY, request.query),
    body: asked.body === undefined ? undefined : await readJsonBody(request, asked.body),
    identity,
    correlationId,
  });
  response.status(asked.status);
  if (asked.status === 204) response.end();
  else if (answer instanceof Uint8Array)
    response.type('json').send(Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength));
  else response.json(answer);
}

function answerScrape(scrape: ScrapeEndpoint, tools: AdminContext): RequestHandler {
  return async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.status(405).setHeader('Allow', 'GET, HEAD').json({ error: 'method not allowed' });
      return;
    }
    if (!scrape.isPublic) tools.authorize(askedBy(request, response), 'analytics:read');
    await scrape.answer(request, response);
  };
}

function askedBy({ headers, method, path }: Request, response: Response): AuthorizedRequest {
  const telemetry = response.locals['watch'] as RequestTelemetry | undefined;
  return { headers, method, path, correlationId: correlationIdIn(response), telemetry };
}

function correlationIdIn(response: Response): string {
  return String(response.getHeader(CORRELATION_HEADER));
}

function answerFault(error: unknown, request: Request, response: Response, logger: Logger): void {
  const status = isFault(error) ? statusOf(error.code) : 500;
  // What was not read to its end is not read any more: a next request behind it would wait for ever.
  if (!request.complete && request.readableAborted) response.setHeader('Connection', 'close');
  // A refusal may repeat what it refuses.
  if (isFault(error) && isRefusal(error.code)) return void response.status(status).json({ error: scrub(error.say).text });
  // Express's own refusals (a malformed percent escape in the path) carry a status below 500.
  if (!isFault(error) && isClientError(error))
    return void response.status(400).json({ error: 'the request could not be parsed' });
  const cause_code = isFault(error) ? codeOf(error.cause) : '';
  logger.error(
    {
      err: error,
      code: codeOf(error),
      ...(cause_code === '' ? {} : { cause_code }),
      path: request.path,
      correlation_id: response.getHeader(CORRELATION_HEADER),
      next_step: isFault(error) ? `see docs/failure-modes.md#${error.code}` : 'report it with this line: it is a bug',
    },
    'request failed',
  );
  response.status(status).json({ error: isFault(error) ? scrub(error.say).text : 'internal server error' });
}

function isClientError(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'status' in error && Number(error.status) >= 400 && Number(error.status) < 500
  );
}
