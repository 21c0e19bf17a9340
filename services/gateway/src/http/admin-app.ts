import { codeOf, isFault } from '@vitrine/faults/fault';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from '@vitrine/telemetry/logger';
import { CORRELATION_HEADER, correlationIdOf } from './correlation-id.ts';
import { statusOf } from './fault-statuses.ts';

/** One path of the admin API and what answers its methods. */
export interface AdminRoute {
  readonly path: string;
  readonly GET?: AdminHandler;
  readonly POST?: AdminHandler;
  readonly DELETE?: AdminHandler;
}

/** Answers by returning the JSON body; faults are rendered at the edge. */
export type AdminHandler = (request: Request, response: Response) => Promise<object> | object;

const ALLOWED_HEADERS = ['Content-Type', 'Authorization', 'X-API-Key', 'X-Svc-Gateway-Key'];

/** The express application behind `/` and `/api`. Every route answers OPTIONS with 204, other methods with 405 and `Allow`;
 *  errors are always JSON. Spec: gateway, Endpoints. */
export function createAdminApp(routes: readonly AdminRoute[], logger: Logger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request, response, next) => {
    response.setHeader(CORRELATION_HEADER, correlationIdOf(request.headers));
    if (request.path === '/api' || request.path.startsWith('/api/')) allowAnyOrigin(response);
    next();
  });
  for (const route of routes) app.all(route.path, answerRoute(route));
  // Preflight goes for every path below /api, also those that do not exist.
  app.options('/api/{*path}', (_request, response) => void response.status(204).end());
  app.use((_request, response) => void response.status(404).json({ error: 'not found' }));
  app.use((error: unknown, request: Request, response: Response, next: (error: unknown) => void) => {
    if (response.headersSent) next(error);
    else answerFault(error, request, response, logger);
  });
  return app;
}

function allowAnyOrigin(response: Response): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, DELETE, OPTIONS');
  response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS.join(', '));
}

function answerRoute(route: AdminRoute): RequestHandler {
  const methods = (['GET', 'POST', 'DELETE'] as const).filter((method) => route[method] !== undefined);
  const allow = [...methods, ...(route.path === '/' ? [] : ['OPTIONS'])].join(', ');
  return async (request, response) => {
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const handler = method === 'GET' || method === 'POST' || method === 'DELETE' ? route[method] : undefined;
    if (handler !== undefined) response.json(await handler(request, response));
    else if (method === 'OPTIONS' && route.path !== '/') response.status(204).end();
    else response.status(405).setHeader('Allow', allow).json({ error: 'method not allowed' });
  };
}

function answerFault(error: unknown, request: Request, response: Response, logger: Logger): void {
  const status = isFault(error) ? statusOf(error.code) : 500;
  if (isFault(error) && status < 500) return void response.status(status).json({ error: error.say });
  // Express's own refusals (a malformed percent escape in the path) carry a status below 500.
  if (!isFault(error) && isClientError(error))
    return void response.status(400).json({ error: 'the request could not be parsed' });
  logger.error(
    { err: error, code: codeOf(error), path: request.path, correlation_id: response.getHeader(CORRELATION_HEADER) },
    'request failed',
  );
  response.status(status).json({ error: isFault(error) ? error.say : 'internal server error' });
}

function isClientError(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'status' in error && Number(error.status) >= 400 && Number(error.status) < 500
  );
}
