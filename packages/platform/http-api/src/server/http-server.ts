import type { IncomingMessage, Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { ClientConnections } from '../connections/client-connections.ts';
import { ClientRequest } from '../connections/client-request.ts';
import { ClientResponse } from '../connections/client-response.ts';
import { createServer } from '../node-http.ts';
import { plainRejections, type RejectionFormat, type Rejection } from '../rejection.ts';
import { listenKeys } from './listen.ts';
import { z } from 'zod';

/** A request's head has to arrive within this. */
const HEADERS_TIMEOUT_MS = 10_000;
/** The whole request has to arrive within this; Node checks this at the interval below. */
const REQUEST_TIMEOUT_MS = 600_000;
const CHECK_INTERVAL_MS = 2_000;
/** Above the idle time of common load balancers (60 s), so that they close idle connections, not this server. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** TCP probes begin after this idle time; the system gives up on a peer that is gone some minutes later. */
const TCP_KEEP_ALIVE_MS = 60_000;
/** Bytes of a request's body that Node keeps until they are read, and of a response until the client reads them. A buffer object takes 200 bytes of
 *  memory, so that 64 KiB in one-byte chunks, Node's default, would be 13 MB. */
const HIGH_WATER_MARK = 16_384;
/** Default time for which a stopping server keeps idle connections: longer than the transit of a request on a machine that is not busy. */
export const IDLE_GRACE_MS = 100;
/** Must fit into a shutdown step of 5 s. */
export const MAX_IDLE_GRACE_MS = 4_000;
/** How long a stopping server waits for the first request of a connection, which may be on its way. */
const FIRST_REQUEST_MS = 1_000;
/** How often idle connections are closed from then on. */
const CLOSE_IDLE_MS = 100;
/** How long afterwards connections are kept whose stream has just ended. Must fit into the step that finishes requests. */
const MAX_FREED_LATER_MS = 4_000;

/** Serves a request, and calls `sendContinue` of its response before it reads a body. A request with a `rejection` must not be served: the rejection is
 *  its response, the last on its connection. */
type ServeRequest = (request: IncomingMessage, response: ClientResponse, rejection?: Rejection) => void;

const EXPECTATION_FAILED: Rejection = { status: 417, error: 'the expectation cannot be met' };

export interface HttpServerOptions {
  /** Connections beyond this limit are closed at once. */
  readonly maxConnections: number;
  /** The response header that carries the correlation id. */
  readonly correlationHeader: string;
  /** The format of rejections before routing; `{ error: "..." }` by default. */
  readonly rejections?: RejectionFormat;
}

export interface HttpServer {
  readonly server: Server<typeof IncomingMessage, typeof ClientResponse>;
  readonly connections: ClientConnections;
}

/** An HTTP/1.1 server for untrusted clients: unparsable messages get a JSON response, every connection ends within a bound, and responses are
 *  never written out of order. */
export function createHttpServer(options: HttpServerOptions, serve: ServeRequest): HttpServer {
  const { maxConnections, correlationHeader, rejections = plainRejections(correlationHeader) } = options;
  const server = createServer({
    IncomingMessage: ClientRequest,
    ServerResponse: ClientResponse,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    highWaterMark: HIGH_WATER_MARK,
    // `serve` rejects a missing Host in JSON.
    requireHostHeader: false,
  });
  server.maxConnections = maxConnections;
  const connections = new ClientConnections(server, rejections);
  const begin: ServeRequest = (request, response, rejection) => {
    // After the server has stopped listening, every connection ends with its response.
    if (!server.listening) response.shouldKeepAlive = false;
    if (connections.begin(request, response)) serve(request, response, rejection);
  };
  server.on('request', (request, response) => begin(request, response));
  server.on('checkContinue', (request: IncomingMessage, response: ClientResponse) => {
    response.awaitsContinue = true;
    begin(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ClientResponse) =>
    begin(request, response, EXPECTATION_FAILED),
  );
  return { server, connections };
}

/** A stopping server. Both promises resolve once. */
export interface StoppingServer {
  /** Resolves when idle connections are no longer kept, or none exist. */
  readonly idleClosed: Promise<void>;
  /** Resolves when every connection has ended. */
  readonly closed: Promise<void>;
}

/** Stops accepting and ends every connection: with its next response, or when it was idle for `idleGraceMs`. A client that sends on an idle
 *  connection while the server closes it cannot know whether its request was served. Lost requests when a busy gateway stopped: 70 of 8,700 when
 *  connections were closed at once; 13 to 55 of 10,000 after 100 ms on a machine so busy that requests were longer in transit; 10 of 22,900 when
 *  connections were closed at the end of their stream. */
export function stopServer({ server, connections }: HttpServer, idleGraceMs: number = IDLE_GRACE_MS): StoppingServer {
  const [idleClosed, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const stoppedAt = performance.now();
  let freedAt = stoppedAt;
  const ticks = setInterval(() => {
    const idleMs = performance.now() - stoppedAt;
    if (idleMs < idleGraceMs) return;
    const isWaiting = performance.now() - freedAt < idleGraceMs && idleMs < idleGraceMs + MAX_FREED_LATER_MS;
    if (isWaiting) {
      idleClosed.resolve();
      return;
    }
    // After a turn of the event loop, which reads data already received by sockets.
    setImmediate(() => {
      connections.closeIdle({ withoutRequest: idleMs >= FIRST_REQUEST_MS });
      idleClosed.resolve();
    });
  }, CLOSE_IDLE_MS);
  // `http.Server.close` would close idle connections at once.
  TcpServer.prototype.close.call(server, () => {
    clearInterval(ticks);
    idleClosed.resolve();
    // Stops its timer.
    server.close(() => closed.resolve());
  });
  connections.endAfterResponses(() => (freedAt = performance.now()));
  return { idleClosed: idleClosed.promise, closed: closed.promise };
}

/** Keys under `server` of services with external clients. */
export const clientServerKeys = (port: number, maxConnections: number) => ({
  ...listenKeys(port),
  /** Further connections are closed at once. */
  max_connections: z.int().min(1).max(65_535).default(maxConnections),
  /** How long a stopping service keeps idle connections for their next request, whose response closes them. */
  idle_grace_ms: z.int().min(0).max(MAX_IDLE_GRACE_MS).default(IDLE_GRACE_MS),
});
