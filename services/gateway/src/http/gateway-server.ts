import { codeOf } from '@vitrine/faults/fault';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { correlationIdOf } from './correlation-id.ts';
import { answerJson, answerJsonOnSocket } from './json-answer.ts';

/** A request's head has to arrive within this, */
const HEADERS_TIMEOUT_MS = 10_000;
/** and its body within this; node looks every two seconds. */
const REQUEST_TIMEOUT_MS = 600_000;
const CHECK_INTERVAL_MS = 2_000;
/** Above the idle time of common load balancers (60 s), so that they, not we, close idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** The gateway's HTTP server: the proxy is asked first, everything else goes to the admin API. Whatever cannot be parsed is
 *  answered in JSON too. */
export function createGatewayServer(
  proxy: (...args: Parameters<RequestListener>) => boolean,
  admin: RequestListener,
  maxConnections: number,
): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // The proxy refuses a missing Host itself, in JSON.
      requireHostHeader: false,
    },
    (request, response) => {
      if (!proxy(request, response)) admin(request, response);
    },
  );
  server.maxConnections = maxConnections;
  server.on('clientError', (error, socket) => {
    const [status, reason, text] = parserRefusal(codeOf(error));
    answerJsonOnSocket(socket, status, reason, text);
  });
  server.on('checkExpectation', (request, response) => {
    answerJson(response, 417, { error: 'the expectation cannot be met' }, correlationIdOf(request.headers), [
      'Connection',
      'close',
    ]);
  });
  server.on('connect', (_request, socket: Socket) => answerJsonOnSocket(socket, 405, 'Method Not Allowed', 'method not allowed'));
  return server;
}

function parserRefusal(code: string): [number, string, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Request Header Fields Too Large', 'the request headers are too large'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'Request Timeout', 'the request did not arrive in time'];
  return [400, 'Bad Request', 'the request could not be parsed'];
}
