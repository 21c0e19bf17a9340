import { codeOf } from '@vitrine/faults/fault';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RejectionFormat, Rejection } from '../rejection.ts';
import { sendRejection, sendRejectionOnSocket } from './send-rejection.ts';
import { ClientResponse } from './client-response.ts';
import { readRequestLine, type RequestLine } from './request-line.ts';

/** How long a client may take to close a connection after a final response. A client whose connection is cut at once may never read the response
 *  (RFC 9112, 9.6). */
export const LINGER_MS = 2_000;
/** How long the responses before a malformed request may still take. */
const FINISH_MS = 3_000;
/** Requests of one connection that may wait for the responses before them. More are rejected with 503, because each would need a connection to the
 *  provider, and one TCP segment can contain 1,800 requests. */
export const MAX_PIPELINED = 100;
/** A client that does not read its response is disconnected after this time. */
const STALL_TIMEOUT_MS = 60_000;
const STALL_CHECK_MS = 5_000;

/** `Allow` lists the methods of resources (RFC 9110, 15.5.6). */
const CONNECT_REJECTION: Rejection = {
  status: 405,
  error: 'method not allowed',
  headers: ['Allow', 'GET, HEAD, POST, DELETE, OPTIONS'],
};

/** A message that was rejected without being served as a request: it could not be parsed, or is not an HTTP message. */
export interface RefusedMessage {
  readonly reason: CloseReason;
  readonly rejection: Rejection;
  /** The id that the response carries. */
  readonly correlationId: string;
  readonly remoteAddress: string | undefined;
  /** Undefined when unknown: for a head that arrived in several segments or not in time, and for a message after a request whose response was
   *  still being sent. */
  readonly line: RequestLine | undefined;
}

/** How a rejected message is identified: by its request line, or by the bytes in the parser. */
type MessageSource = { readonly line: RequestLine } | { readonly packet: Uint8Array | undefined };

interface Connection {
  /** The response to the newest request. */
  last: ClientResponse | undefined;
  /** Responses that wait for those before them. Node loses them when it detaches a socket. */
  readonly queued: Set<ServerResponse>;
  /** No further message is served. */
  isClosing: boolean;
  /** The socket's timeout is set, because its client reads too slowly. */
  hasStallTimeout: boolean;
}

/** The client connections of a server, from the first byte to the last. Node serves the requests on them. This class closes connections that
 *  received anything other than a request, after the responses before it, and connections with a stalled client. It also closes sockets that Node
 *  detaches (CONNECT), for which Node has no timeout, error handler or shutdown. */
export class ClientConnections implements Disposable {
  /** Closed connections by reason. */
  readonly closed = createCloseCounts();
  /** Called for each message that was rejected without being served. */
  onRefused: ((refused: RefusedMessage) => void) | undefined;
  readonly #open = new Map<Socket, Connection>();
  readonly #format: RejectionFormat;
  readonly #stallTimeoutMs: number;
  readonly #stallCheck: NodeJS.Timeout;

  constructor(
    server: Server<typeof IncomingMessage, typeof ClientResponse>,
    format: RejectionFormat,
    stallTimeoutMs: number = STALL_TIMEOUT_MS,
  ) {
    this.#format = format;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#stallCheck = setInterval(() => this.#checkStalled(), Math.min(STALL_CHECK_MS, stallTimeoutMs)).unref();
    server.on('connection', (socket) => this.#opened(socket));
    server.on('drop', () => (this.closed.connection_limit += 1));
    server.on('timeout', (socket: Socket) => {
      if (this.#open.get(socket)?.hasStallTimeout === true) this.closed.client_stalled += 1;
      socket.destroy();
    });
    server.on('clientError', (error: Error & { readonly rawPacket?: Uint8Array }, socket) =>
      this.#refuse(socket as Socket, ...parserRejection(codeOf(error)), { packet: error.rawPacket }),
    );
    server.on('connect', ({ url = '' }, socket: Socket) => {
      // Node has removed its own listeners. Further data is discarded, because otherwise the client's end would never be detected.
      socket.on('error', () => {});
      socket.resume();
      this.#refuse(socket, 'connect_method', CONNECT_REJECTION, { line: { method: 'CONNECT', target: url } });
    });
  }

  /** Open connections. */
  get size(): number {
    return this.#open.size;
  }

  /** Records a request. Returns false when its connection is being closed and the request must not be served. */
  begin({ socket }: IncomingMessage, response: ClientResponse): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.isClosing) return false;
    connection.last = response;
    // Another response precedes this one on the connection.
    if (response.socket === null) queue(connection, response);
    return true;
  }

  /** Whether too many requests of the connection wait for the responses before them. */
  isCrowded({ socket }: IncomingMessage): boolean {
    return (this.#open.get(socket)?.queued.size ?? 0) > MAX_PIPELINED;
  }

  /** From now on no message on the connection is served. The caller closes it. */
  stopServing(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.isClosing = true;
  }

  /** Announces in the responses in progress that their connection ends with them. If the head was already sent, its client expects to reuse the
   *  connection, and may do so before it detects a close. `onPromised` is called when such a response ends. */
  endAfterResponses(onPromised: () => void): void {
    for (const { last } of this.#open.values()) {
      if (last === undefined || last.writableFinished) continue;
      if (last.headersSent) last.once('finish', onPromised);
      else last.shouldKeepAlive = false;
    }
  }

  /** Closes the connections without a request in progress. `closeIdleConnections` of Node keeps those whose next head is not complete, and those that
   *  never sent one, such as a browser's or load balancer's preconnected ones. */
  closeIdle({ withoutRequest }: { readonly withoutRequest: boolean }): void {
    for (const [socket, { last, isClosing }] of this.#open) {
      const isIdle = last === undefined ? withoutRequest : last.writableFinished && last.req.complete;
      if (isIdle && !isClosing) socket.destroy();
    }
  }

  /** Closes every connection, regardless of requests in progress. */
  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#stallCheck);
    this.destroyAll();
  }

  #opened(socket: Socket): void {
    const connection: Connection = { last: undefined, queued: new Set(), isClosing: false, hasStallTimeout: false };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      for (const response of connection.queued) response.destroy();
    });
  }

  /** Closes a connection that received an unserved message. Earlier requests get their responses first. */
  #refuse(socket: Socket, reason: CloseReason, rejection: Rejection, source: MessageSource): void {
    const connection = this.#open.get(socket);
    if (!socket.writable || connection === undefined) return void socket.destroy();
    if (connection.isClosing) return;
    connection.isClosing = true;
    this.closed[reason] += 1;
    const { last } = connection;
    if (last === undefined || last.writableFinished) {
      // After a complete response to a request that never ended, the client does not wait for another response.
      if (last?.req.complete === false) return closeSoon(socket, () => socket.end());
      this.#respond(socket, reason, rejection, 'line' in source ? source.line : readRequestLine(source.packet));
    } else if (last.req.complete) {
      const timer = setTimeout(() => socket.destroy(), FINISH_MS);
      last.once('close', () => {
        clearTimeout(timer);
        // Only the parser had the position of the message in the bytes of earlier requests.
        this.#respond(socket, reason, rejection, 'line' in source ? source.line : undefined);
      });
    } else if (last.headersSent) {
      socket.destroy();
    } else if (last.handler !== undefined) {
      last.handler.onMalformedRequest(rejection);
    } else {
      const id = this.#format.newCorrelationId();
      const headers = [this.#format.correlationHeader, id, 'Connection', 'close'];
      sendRejection(last, rejection, headers, this.#format.bodyOf(rejection, id));
    }
  }

  /** Sends the last response of a connection and closes it. */
  #respond(socket: Socket, reason: CloseReason, rejection: Rejection, line: RequestLine | undefined): void {
    const { remoteAddress } = socket;
    closeSoon(socket, () => {
      const correlationId = sendRejectionOnSocket(socket, rejection, this.#format);
      if (correlationId !== undefined) this.onRefused?.({ reason, rejection, correlationId, remoteAddress, line });
    });
  }

  /** Node's own socket timeout covers unsent data, but also counts idle waiting, which may be long here. Therefore it is set only while a client
   *  reads too slowly. Node resets it when a response ends. */
  #checkStalled(): void {
    for (const [socket, connection] of this.#open) {
      const isBehind = socket.writableLength > 0;
      if (isBehind === connection.hasStallTimeout) continue;
      const isResponding = connection.last?.writableFinished === false;
      if (isBehind || isResponding) socket.setTimeout(isBehind ? this.#stallTimeoutMs : 0);
      connection.hasStallTimeout = isBehind;
    }
  }
}

function queue({ queued }: Connection, response: ServerResponse): void {
  queued.add(response);
  response.once('close', () => queued.delete(response));
}

/** Ends a connection with `end`, and destroys it if the client does not end its side. */
function closeSoon(socket: Socket, end: () => void): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  end();
}

function parserRejection(code: string): [CloseReason, Rejection] {
  // Node's parser stops at the preface of HTTP/2.
  if (code === 'HPE_PAUSED_H2_UPGRADE')
    return ['malformed_request', { status: 505, error: 'HTTP/2 is not served: send HTTP/1.1' }];
  if (code === 'HPE_HEADER_OVERFLOW') return ['header_overflow', { status: 431, error: 'the request headers are too large' }];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return ['request_timeout', { status: 408, error: 'the request did not arrive in time' }];
  return ['malformed_request', { status: 400, error: 'the request could not be parsed' }];
}

/** Why the server closed a client's connection, or did not accept it. */
export const CLOSE_REASONS = [
  /** The connection limit was reached. */
  'connection_limit',
  'connect_method',
  'malformed_request',
  'header_overflow',
  'request_timeout',
  /** The client did not read its response. */
  'client_stalled',
] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** Closed connections by reason since the server was created. Every reason starts at 0. */
export function createCloseCounts(): Record<CloseReason, number> {
  return Object.fromEntries(CLOSE_REASONS.map((reason) => [reason, 0])) as Record<CloseReason, number>;
}
