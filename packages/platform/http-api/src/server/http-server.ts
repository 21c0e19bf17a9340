import type { IncomingMessage, Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { ClientConnections } from '../connections/client-connections.ts';
import { ClientRequest } from '../connections/client-request.ts';
import { ClientResponse } from '../connections/send-rejection.ts';
import { createServer } from '../node-http.ts';
import { plainRejections, type RejectionFormat, type Rejection } from '../rejection.ts';
import { z } from 'zod';
import { Fault, codeOf } from '@vitrine/faults/fault';

/** A request's head has to arrive within this. */
const HEADERS_TIMEOUT_MS = 10_000;
/** The whole request has to arrive within this; Node checks at the interval below. */
const REQUEST_TIMEOUT_MS = 600_000;
const CHECK_INTERVAL_MS = 2_000;
/** Above the idle time of common load balancers (60 s), so that they close idle connections, not this server. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** TCP probes begin after this idle time; the system gives up on a peer that is gone some minutes later. */
const TCP_KEEP_ALIVE_MS = 60_000;
/** How long a stopping server keeps connections on which nothing is under way, unless it is told otherwise: longer than a request is on its way
 *  on a machine that is not busy. */
export const IDLE_GRACE_MS = 100;
/** It has to fit into a shutdown step of 5 s. */
export const MAX_IDLE_GRACE_MS = 4_000;
/** How often they are closed from then on. */
const CLOSE_IDLE_MS = 100;
/** How long after that connections are kept whose stream has just ended: within the step that finishes requests. */
const MAX_FREED_LATER_MS = 4_000;

/** Serves a request. One with a `rejection` must not be served: that is its response, the last on its connection. */
type ServeRequest = (request: IncomingMessage, response: ClientResponse, rejection?: Rejection) => void;

const EXPECTATION_FAILED: Rejection = { status: 417, error: 'the expectation cannot be met' };

export interface HttpServerOptions {
  /** Connections beyond it are closed at once. */
  readonly maxConnections: number;
  /** The response header that carries the correlation id. */
  readonly correlationHeader: string;
  /** Of what is rejected before a route is reached; `{ error: "..." }` unless given. */
  readonly rejections?: RejectionFormat;
}

export interface HttpServer {
  readonly server: Server<typeof IncomingMessage, typeof ClientResponse>;
  readonly connections: ClientConnections;
}

/** An HTTP/1.1 server for untrusted clients: what cannot be parsed gets a JSON response, every connection ends within a bound, and
 *  nothing is written to one out of the order of its responses. */
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
    // `serve` rejects a missing Host, in JSON.
    requireHostHeader: false,
  });
  server.maxConnections = maxConnections;
  const connections = new ClientConnections(server, rejections);
  const begin: ServeRequest = (request, response, rejection) => {
    // Once it has stopped listening, every connection ends with its response.
    if (!server.listening) response.shouldKeepAlive = false;
    if (connections.begin(request, response)) serve(request, response, rejection);
  };
  server.on('request', (request, response) => begin(request, response));
  server.on('checkContinue', (request: IncomingMessage, response: ClientResponse) => {
    // Node puts the interim response of a request that waits for others behind the head of its final one, where it is read as the body.
    // The client continues without (RFC 9110, 10.1.1), and Node then closes the connection after the response.
    if (response.socket !== null) response.writeContinue();
    begin(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ClientResponse) =>
    begin(request, response, EXPECTATION_FAILED),
  );
  return { server, connections };
}

/** A server that stops; both resolve once. */
export interface StoppingServer {
  /** When connections that were idle are not kept any more, or there are none. */
  readonly idleClosed: Promise<void>;
  /** When every connection has ended. */
  readonly closed: Promise<void>;
}

/** Stops accepting and ends every connection: with its next response, or when it was idle for `idleGraceMs`. A client that sends on an idle
 *  connection while the server closes it cannot know whether its request was served: closed at once, they cost 70 of 8,700 requests when a busy
 *  gateway stopped; after 100 ms, 13 to 55 of 10,000 on a machine so busy that requests were longer on their way; and those with a stream, closed
 *  with its end, 10 of 22,900. */
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
    // After a turn of the event loop, which reads what sockets have received.
    setImmediate(() => {
      server.closeIdleConnections();
      idleClosed.resolve();
    });
  }, CLOSE_IDLE_MS);
  // The method of http.Server would close idle connections at once.
  TcpServer.prototype.close.call(server, () => {
    clearInterval(ticks);
    idleClosed.resolve();
    // Ends its timer.
    server.close(() => closed.resolve());
  });
  connections.endAfterResponses(() => (freedAt = performance.now()));
  return { idleClosed: idleClosed.promise, closed: closed.promise };
}

/** Keys under `server` of every service: where it listens. */
export const listenKeys = (port: number) => ({
  host: z.string().min(1).default('0.0.0.0'),
  /** 0: any free port. */
  port: z.int().min(0).max(65_535).default(port),
});

/** The same of services that clients use. */
export const clientServerKeys = (port: number, maxConnections: number) => ({
  ...listenKeys(port),
  /** Further connections are closed at once. */
  max_connections: z.int().min(1).max(65_535).default(maxConnections),
  /** How long a stopping service keeps idle connections for their next request, whose response closes them. */
  idle_grace_ms: z.int().min(0).max(MAX_IDLE_GRACE_MS).default(IDLE_GRACE_MS),
});

/** The address to listen on, and the configuration keys that set it. */
export interface ListenAt {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly hostKey: string;
  readonly portKey: string;
}

/** The URL by which a program on this machine reaches a listener, without a trailing slash. */
export function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Listens; resolves to the URL, such as `http://127.0.0.1:8080`. Faults: `address_unusable`. */
export function listen(server: TcpServer, { host, port, hostKey, portKey }: ListenAt): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  server.once('error', (cause) => {
    const isBusy = codeOf(cause) === 'EADDRINUSE';
    const key = isBusy || codeOf(cause) === 'EACCES' ? portKey : hostKey;
    const reason = isBusy ? 'is already in use' : `cannot be listened on: ${cause.message}`;
    reject(new Fault('address_unusable', { say: `${key}: ${host}:${port} ${reason}`, cause }));
  });
  server.listen(port, host, () => {
    const address = server.address();
    const actual = typeof address === 'object' && address !== null ? address.port : port;
    resolve(urlOf(host, actual));
  });
  return promise;
}
