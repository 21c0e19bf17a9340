import { codeOf } from '@vitrine/faults/fault';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestWatch } from '../observability/request-watch.ts';
import type { WatchRequest } from '../observability/watch-requests.ts';
import { correlationIdOf } from './correlation-id.ts';
import { answerJson, answerJsonOnSocket } from './json-answer.ts';

/** A request's head has to arrive within this, */
const HEADERS_TIMEOUT_MS = 10_000;
/** and its body within this; node looks every two seconds. */
const REQUEST_TIMEOUT_MS = 600_000;
const CHECK_INTERVAL_MS = 2_000;
/** How often a server that is stopping looks for connections whose answer has gone out. */
const IDLE_CHECK_MS = 50;
/** Above the idle time of common load balancers (60 s), so that they, not we, close idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Handles a request; `watch` is undefined when nobody is told of it. */
type Handle<Result> = (request: IncomingMessage, response: ServerResponse, watch: RequestWatch | undefined) => Result;

/** The gateway's HTTP server: the proxy is asked first, everything else goes to the admin API. Whatever cannot be parsed is
 *  answered in JSON too. */
export function createGatewayServer(
  proxy: Handle<boolean>,
  admin: Handle<void>,
  maxConnections: number,
  watchRequest: WatchRequest | undefined,
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
      // Once it has stopped listening, every connection ends with its answer.
      if (!server.listening) response.shouldKeepAlive = false;
      const watch = watchRequest?.(request);
      if (!proxy(request, response, watch)) admin(request, response, watch);
    },
  );
  server.maxConnections = maxConnections;
  server.on('clientError', (error, socket) => {
    // Garbage behind a sound request must not be answered in the middle of that request's answer.
    if (isAnswering(socket)) {
      socket.destroy();
    } else {
      const [status, reason, text] = parserRefusal(codeOf(error));
      answerJsonOnSocket(socket, status, reason, text);
    }
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

/** Whether a whole request is being answered on the socket, or an answer has begun. `_httpMessage` is node's own link from a socket
 *  to its response; there is no public one. */
function isAnswering(socket: object): boolean {
  const response = '_httpMessage' in socket ? (socket._httpMessage as ServerResponse | null | undefined) : undefined;
  return response !== null && response !== undefined && (response.headersSent || response.req.complete);
}

/** Stops accepting and resolves when every connection has ended: the idle at once, the others with their answers. */
export function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  server.close(() => {
    clearInterval(idle);
    resolve();
  });
  server.closeIdleConnections();
  return promise;
}

function parserRefusal(code: string): [number, string, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Request Header Fields Too Large', 'the request headers are too large'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'Request Timeout', 'the request did not arrive in time'];
  return [400, 'Bad Request', 'the request could not be parsed'];
}
