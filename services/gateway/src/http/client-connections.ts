import { codeOf } from '@vitrine/faults/fault';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Rejection } from '../rejection.ts';
import { ClientResponse } from './client-response.ts';
import { createCloseCounts, type CloseReason } from './connection-counters.ts';
import { sendJson, sendJsonOnSocket } from './send-json.ts';
import { newCorrelationId } from './correlation-id.ts';
import { readRequestLine, type RequestLine } from './request-line.ts';

/** How long a client may take to close a connection that was refused. One that is cut at once may never read why (RFC 9112, 9.6). */
const LINGER_MS = 2_000;
/** How long the responses before something that is not served may still take: whoever sent it is no sound client. */
const FINISH_MS = 3_000;
/** Requests of one connection that may wait for the responses before them. More are answered with 503: each would take a connection to the
 *  provider, and one segment of a client holds 1,800 of them. */
export const MAX_PIPELINED = 100;
/** A client that takes nothing of what it has asked for is cut after this long, */
const STALL_TIMEOUT_MS = 60_000;
/** and looked for this often. */
const STALL_CHECK_MS = 5_000;

/** What CONNECT names is no resource of the gateway's; these are the methods that those have (RFC 9110, 15.5.6). */
const CONNECT_REJECTION: Rejection = {
  status: 405,
  error: 'method not allowed',
  headers: ['Allow', 'GET, HEAD, POST, DELETE, OPTIONS'],
};

/** What was refused without ever being served as a request, because it could not be parsed or is no message of HTTP's. */
export interface RefusedMessage {
  readonly reason: CloseReason;
  readonly rejection: Rejection;
  /** Of the response. */
  readonly correlationId: string;
  readonly remoteAddress: string | undefined;
  /** Undefined when nobody knows: of a head that came in several pieces or not in time, and of what could not be parsed behind a request that
   *  was still being answered. */
  readonly line: RequestLine | undefined;
}

/** What a refused message is known by: its request line, or the bytes that the parser had. */
type KnownOf = { readonly line: RequestLine } | { readonly packet: Uint8Array | undefined };

interface Connection {
  /** The response to the request that came last. */
  last: ClientResponse | undefined;
  /** Responses that wait for those before them. Node forgets them when it hands a socket over. */
  readonly queued: Set<ServerResponse>;
  /** Nothing that still comes is served. */
  isClosing: boolean;
  /** The socket's timeout is set, because its client was behind. */
  isWatched: boolean;
}

/** The connections of clients to a server, from the first byte to the last. Node serves the requests on them; this ends those on which
 *  something else came, in the order of the responses, and those whose client does nothing any more. Also those that Node hands over and
 *  thereby forgets: no timeout, no error handler and no shutdown of its own reaches them. */
export class ClientConnections implements Disposable {
  /** Closed connections by reason. */
  readonly closed = createCloseCounts();
  /** Called for each message that was refused and answered without ever being served. */
  onRefused: ((refused: RefusedMessage) => void) | undefined;
  readonly #open = new Map<Socket, Connection>();
  readonly #stallTimeoutMs: number;
  readonly #stallCheck: NodeJS.Timeout;

  constructor(server: Server<typeof IncomingMessage, typeof ClientResponse>, stallTimeoutMs: number = STALL_TIMEOUT_MS) {
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#stallCheck = setInterval(() => this.#checkStalled(), Math.min(STALL_CHECK_MS, stallTimeoutMs));
    this.#stallCheck.unref();
    server.on('connection', (socket) => this.#opened(socket));
    server.on('drop', () => (this.closed.connection_limit += 1));
    server.on('timeout', (socket: Socket) => {
      if (this.#open.get(socket)?.isWatched === true) this.closed.client_stalled += 1;
      socket.destroy();
    });
    server.on('clientError', (error: Error & { readonly rawPacket?: Uint8Array }, socket) =>
      this.#refuse(socket as Socket, ...parserRejection(codeOf(error)), { packet: error.rawPacket }),
    );
    server.on('connect', ({ url = '' }, socket: Socket) => {
      // Node has taken its own listeners off. What still comes is dropped, or the client's end would never be seen.
      socket.on('error', () => {});
      socket.resume();
      this.#refuse(socket, 'connect_method', CONNECT_REJECTION, { line: { method: 'CONNECT', target: url } });
    });
  }

  /** Connections that are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Takes note of a request. False: its connection is being closed, and the request is not to be served. */
  begin({ socket }: IncomingMessage, response: ClientResponse): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.isClosing) return false;
    connection.last = response;
    // Another response is before this one on the connection.
    if (response.socket === null) queue(connection, response);
    return true;
  }

  /** Whether too many requests of the connection wait for the responses before them. */
  isCrowded({ socket }: IncomingMessage): boolean {
    return (this.#open.get(socket)?.queued.size ?? 0) > MAX_PIPELINED;
  }

  /** From now on nothing that comes on the connection is served. Closing it is the caller's business. */
  stopServing(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.isClosing = true;
  }

  /** Closes every connection, whatever is under way on it. */
  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#stallCheck);
    this.destroyAll();
  }

  #opened(socket: Socket): void {
    const connection: Connection = { last: undefined, queued: new Set(), isClosing: false, isWatched: false };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      for (const response of connection.queued) response.destroy();
    });
  }

  /** Ends a connection on which something came that is not served. Requests before it are answered first. */
  #refuse(socket: Socket, reason: CloseReason, rejection: Rejection, known: KnownOf): void {
    const connection = this.#open.get(socket);
    if (!socket.writable || connection === undefined) return void socket.destroy();
    if (connection.isClosing) return;
    connection.isClosing = true;
    this.closed[reason] += 1;
    const { last } = connection;
    if (last === undefined || last.writableFinished) {
      // Behind a whole response to a request that never ended, nobody waits for another response.
      if (last?.req.complete === false) return void close(socket, undefined);
      const line = 'line' in known ? known.line : readRequestLine(known.packet);
      this.#answer(socket, reason, rejection, line);
    } else if (last.req.complete) {
      const timer = setTimeout(() => socket.destroy(), FINISH_MS);
      last.once('close', () => {
        clearTimeout(timer);
        // Where in the bytes it begins that came with the requests before it, only the parser knew.
        this.#answer(socket, reason, rejection, 'line' in known ? known.line : undefined);
      });
    } else if (last.headersSent) {
      socket.destroy();
    } else if (last.handler !== undefined) {
      last.handler.onMalformedRequest(rejection);
    } else {
      const { status, error, headers = [] } = rejection;
      sendJson(last, status, { error }, newCorrelationId(), ['Connection', 'close', ...headers]);
    }
  }

  #answer(socket: Socket, reason: CloseReason, rejection: Rejection, line: RequestLine | undefined): void {
    const { remoteAddress } = socket;
    const correlationId = close(socket, rejection);
    if (correlationId !== undefined) this.onRefused?.({ reason, rejection, correlationId, remoteAddress, line });
  }

  /** Node's own timeout of a socket knows what is still being sent, but holds for waiting too, which may take long here: it is set only while
   *  a client is behind. Node sets it anew when a response ends. */
  #checkStalled(): void {
    for (const [socket, connection] of this.#open) {
      const isBehind = socket.writableLength > 0;
      if (isBehind === connection.isWatched) continue;
      const isAnswering = connection.last?.writableFinished === false;
      if (isBehind || isAnswering) socket.setTimeout(isBehind ? this.#stallTimeoutMs : 0);
      connection.isWatched = isBehind;
    }
  }
}

function queue({ queued }: Connection, response: ServerResponse): void {
  queued.add(response);
  response.once('close', () => queued.delete(response));
}

/** Ends a connection with a last response, or none, and destroys it when the client does not end it too. Answers the response's
 *  correlation id. */
function close(socket: Socket, rejection: Rejection | undefined): string | undefined {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  if (rejection !== undefined) return sendJsonOnSocket(socket, rejection);
  socket.end();
  return undefined;
}

function parserRejection(code: string): [CloseReason, Rejection] {
  if (code === 'HPE_HEADER_OVERFLOW') return ['header_overflow', { status: 431, error: 'the request headers are too large' }];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return ['request_timeout', { status: 408, error: 'the request did not arrive in time' }];
  return ['malformed_request', { status: 400, error: 'the request could not be parsed' }];
}
