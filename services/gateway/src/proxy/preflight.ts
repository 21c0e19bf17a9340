import { drainRequest } from '@vitrine/http-api/connections/drain-request';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CORRELATION_HEADER } from '../telemetry/correlation-id.ts';

const ALLOW_ORIGIN = 'Access-Control-Allow-Origin';
const EXPOSE_HEADERS = 'Access-Control-Expose-Headers';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** How long a browser may cache a preflight, in seconds. */
const MAX_AGE = '600';
const FIELD_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/** Whether the request is a browser's CORS preflight, which never has credentials.
 *  Source: Fetch standard, CORS-preflight fetch. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** Allows any page to send any headers. Providers and traces are protected by keys, which a page must be given. Cookies, which browsers add by
 *  themselves, never reach a provider. The provider is not asked, because it does not support the gateway's own headers. */
export function respondToPreflight(request: IncomingMessage, response: ServerResponse, correlationId: string): void {
  const requestedHeaders = request.headers['access-control-request-headers'] ?? '';
  drainRequest(request);
  response.writeHead(204, 'No Content', [
    ALLOW_ORIGIN,
    '*',
    'Access-Control-Allow-Methods',
    METHODS,
    'Access-Control-Max-Age',
    MAX_AGE,
    CORRELATION_HEADER,
    correlationId,
    // A wildcard would not include Authorization.
    ...(FIELD_NAMES.test(requestedHeaders) ? ['Access-Control-Allow-Headers', requestedHeaders] : []),
  ]);
  response.end();
}

/** Lets the page that sent a request read its response, unless the response has such headers itself. To be called before anything is
 *  written. */
export function allowCrossOriginRead(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (status: number, reason: string, headers: string[]) => ServerResponse;
  response.writeHead = ((status: number, reason: string, headers: string[]) =>
    writeHead(status, reason, [...headers, ...missing(headers)])) as ServerResponse['writeHead'];
}

/** `headers`: alternating names and values. */
function missing(headers: readonly string[]): string[] {
  const names = new Set(headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  if (names.has(ALLOW_ORIGIN.toLowerCase())) return [];
  return [ALLOW_ORIGIN, '*', ...(names.has(EXPOSE_HEADERS.toLowerCase()) ? [] : [EXPOSE_HEADERS, '*'])];
}
