import { createServer, IncomingMessage, type Server } from 'node:http';
import type { Rejection } from '../rejection.ts';
import { ClientConnections } from './client-connections.ts';
import { ClientResponse } from './client-response.ts';

/** A request's head has to arrive within this, */
const HEADERS_TIMEOUT_MS = 10_000;
/** and its body within this; node looks every two seconds. */
const REQUEST_TIMEOUT_MS = 600_000;
const CHECK_INTERVAL_MS = 2_000;
/** Above the idle time of common load balancers (60 s), so that they, not we, close idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** A peer that has vanished without a word is asked for after this; the system gives up some minutes later. */
const TCP_KEEP_ALIVE_MS = 60_000;
/** How often a server that is stopping looks for connections whose answer has gone out. */
const IDLE_CHECK_MS = 50;

/** Serves a request; one with a `rejection` may not be served and is to be answered so, and be the last on its connection. */
export type ServeRequest = (request: IncomingMessage, response: ClientResponse, rejection?: Rejection) => void;

const EXPECTATION_FAILED: Rejection = { status: 417, error: 'the expectation cannot be met' };

export interface HttpServer {
  readonly server: Server<typeof IncomingMessage, typeof ClientResponse>;
  readonly connections: ClientConnections;
}

/** An HTTP/1.1 server that a stranger may talk to: whatever cannot be parsed is answered in JSON, every connection ends within a bound, and
 *  nothing is written to one beside the order of its responses. Connections beyond `maxConnections` are closed at once. */
export function createHttpServer(maxConnections: number, serve: ServeRequest): HttpServer {
  const server = createServer({
    ServerResponse: ClientResponse,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    // A missing Host is refused by whoever serves, in JSON.
    requireHostHeader: false,
  });
  server.maxConnections = maxConnections;
  const connections = new ClientConnections(server);
  const begin: ServeRequest = (request, response, rejection) => {
    // Once it has stopped listening, every connection ends with its answer.
    if (!server.listening) response.shouldKeepAlive = false;
    if (connections.begin(request, response)) serve(request, response, rejection);
  };
  server.on('request', (request, response) => begin(request, response));
  server.on('checkContinue', (request: IncomingMessage, response: ClientResponse) => {
    // Node puts the interim response of a request that waits for others behind the head of its final one, where it is read as the body.
    // The client goes on without (RFC 9110, 10.1.1), and node then closes the connection behind the response.
    if (response.socket !== null) response.writeContinue();
    begin(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ClientResponse) =>
    begin(request, response, EXPECTATION_FAILED),
  );
  return { server, connections };
}

/** Stops accepting and resolves when every connection has ended: the idle at once, the others with their answers. */
export function closeServer(server: HttpServer['server']): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  server.close(() => {
    clearInterval(idle);
    resolve();
  });
  server.closeIdleConnections();
  return promise;
}
