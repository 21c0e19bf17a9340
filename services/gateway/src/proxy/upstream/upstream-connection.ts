import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { connectionError, connectTimeout, type ConnectionStage } from './connection-error.ts';
import type { Framing, UpstreamRequest } from './request-head.ts';
import type { ResponseHead } from './response-head.ts';
import { BEFORE_RESPONSE, ResponseReader, type ResponseConsumer } from './response-reader.ts';
import { upload } from './upload.ts';
import { isUpstreamError, upstreamError, type UpstreamError } from './upstream-error.ts';

/** All connections share this read buffer, one after the other. Otherwise Node allocates 64 KB for each read and shrinks it. */
const readBuffer = Buffer.allocUnsafeSlow(65_536);

/** Receives the response to a request: at most one `onRetry`, `onHead`, chunks, then `onEnd`; or `onError` at any point, and nothing after it.
 *  Never called before `send` has returned, nor after `abort`. */
export interface UpstreamHandler extends ResponseConsumer {
  /** All chunks of one read have been passed on. The next read overwrites them, so data to keep must be copied before returning. */
  onReadEnd(): void;
  /** The request is sent again, on another connection, before anything else was called. */
  onRetry(control: UpstreamControl): void;
  onError(error: UpstreamError): void;
}

/** Controls a request in progress. Because connections are reused, every call passes its handler, and a call for a finished exchange has no
 *  effect. */
export interface UpstreamControl {
  /** Pauses the response. Data already read still arrives, at most 64 KiB. */
  pause(by: UpstreamHandler): void;
  resume(by: UpstreamHandler): void;
  /** Ends the exchange and closes its connection. */
  abort(by: UpstreamHandler): void;
  /** How far the exchange has come, to explain why it did not end; undefined when it is over. */
  progress(by: UpstreamHandler): UpstreamProgress | undefined;
}

export interface UpstreamProgress {
  readonly stage: ConnectionStage;
  /** Whether the provider does not read the request. */
  readonly isSendingBlocked: boolean;
  /** How much of the response has arrived, such as `before the response`. */
  readonly received: string;
}

/** The buffer that a socket reads into, and the callback for each read. */
export interface ReadInto {
  readonly buffer: Buffer;
  readonly callback: (length: number) => boolean;
}

/** Methods whose requests may arrive twice. Source: RFC 9110, section 9.2.2. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** A connection that was idle for as long is read before it is written to. It may have been closed, and a POST that was written to it cannot be
 *  sent again. The wait adds 10 µs to a request on an idle gateway. */
const RESTED_MS = 1;

/** The interface of the pool to its connections. */
export interface ConnectionOwner {
  readonly hostname: string;
  readonly connectTimeoutMs: number;
  connect(onread: ReadInto): Socket;
  /** Called when another request may follow. `keepAlive`: the response's header of that name. */
  released(connection: UpstreamConnection, keepAlive: string | undefined): void;
  /** Sends a request again, on a new connection. */
  retry(request: UpstreamRequest, handler: UpstreamHandler): void;
  closed(connection: UpstreamConnection): void;
}

/** One connection to a provider, for one request at a time. After any irregularity it is closed and not used again. */
export class UpstreamConnection implements ResponseConsumer, UpstreamControl {
  /** Since when it has been idle, and until when it may be used again, on the clock of `performance.now()`. 0: it is new. */
  idleSince = 0;
  idleUntil = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #handler: UpstreamHandler | undefined;
  /** Undefined once its response has begun. */
  #request: UpstreamRequest | undefined;
  /** Whether any byte of the request may have left this process. */
  #isWritten = false;
  #reader: ResponseReader | undefined;
  #isUploaded = true;
  #stage: ConnectionStage;

  constructor(owner: ConnectionOwner) {
    const callback = (length: number): boolean => {
      this.#read(readBuffer.subarray(0, length));
      return true;
    };
    const socket = owner.connect({ buffer: readBuffer, callback });
    this.#socket = socket;
    this.#owner = owner;
    this.#stage = isIP(owner.hostname) === 0 ? 'dns' : 'connect';
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => this.destroy(connectionError(error, this.#stage, socket instanceof TLSSocket, this.#received)));
    const late = () => this.destroy(connectTimeout(this.#stage, owner.hostname, owner.connectTimeoutMs));
    const timer = setTimeout(late, owner.connectTimeoutMs);
    this.#followStages(socket, timer);
    socket.on('close', () => {
      clearTimeout(timer);
      this.destroy(upstreamError('reset', `connection closed ${this.#received}`));
      owner.closed(this);
    });
  }

  #followStages(socket: Socket, timer: NodeJS.Timeout): void {
    const opened = () => {
      clearTimeout(timer);
      this.#stage = 'open';
    };
    socket.on('lookup', (error: Error | null) => {
      if (error === null) this.#stage = 'connect';
    });
    if (socket instanceof TLSSocket) {
      socket.once('connect', () => (this.#stage = 'tls'));
      socket.once('secureConnect', opened);
    } else socket.once('connect', opened);
  }

  /** Whether it can take a request. */
  get isUsable(): boolean {
    return this.#handler === undefined && !this.#socket.destroyed && this.#socket.writable;
  }

  /** Sends a request whose head is written. */
  send(request: UpstreamRequest, framing: Framing, handler: UpstreamHandler): void {
    this.#handler = handler;
    this.#request = request;
    this.#isWritten = false;
    if (!this.#isReused || performance.now() - this.idleSince < RESTED_MS) return this.#write(request, framing, handler);
    // Between the two callbacks Node reads what the provider has already sent, such as the end of the connection.
    const write = () => {
      if (this.#handler === handler) this.#write(request, framing, handler);
    };
    setImmediate(() => setImmediate(write));
  }

  pause(by: UpstreamHandler): void {
    if (this.#handler === by) this.#socket.pause();
  }

  resume(by: UpstreamHandler): void {
    if (this.#handler === by) this.#socket.resume();
  }

  abort(by: UpstreamHandler): void {
    if (this.#handler !== by) return;
    this.#handler = undefined;
    this.#socket.destroy();
  }

  progress(by: UpstreamHandler): UpstreamProgress | undefined {
    if (this.#handler !== by) return undefined;
    return { stage: this.#stage, isSendingBlocked: this.#socket.writableNeedDrain, received: this.#received };
  }

  get #received(): string {
    return this.#reader?.progress ?? BEFORE_RESPONSE;
  }

  get #isReused(): boolean {
    return this.idleSince > 0;
  }

  /** Closes it. An exchange in progress fails with `error`, or begins again on a new connection. */
  destroy(error: UpstreamError): void {
    const handler = this.#handler;
    const request = this.#request;
    this.#handler = undefined;
    this.#request = undefined;
    this.#socket.destroy();
    if (handler === undefined) return;
    // A provider may close an idle connection just when the next request is sent.
    const isStale = this.#isReused && error.code === 'reset' && this.#received === BEFORE_RESPONSE;
    if (request === undefined || !isStale) return handler.onError(error);
    if (!this.#isWritten || isRepeatable(request)) return this.#owner.retry(request, handler);
    const detail = `${error.message}, on a reused connection, after bytes of the request had been written`;
    handler.onError(upstreamError(error.code, detail, error.cause));
  }

  onHead(head: ResponseHead): void {
    this.#request = undefined;
    this.#handler?.onHead(head);
  }

  onData(chunk: Buffer): void {
    this.#handler?.onData(chunk);
  }

  onEnd(trailers: readonly string[]): void {
    this.#handler?.onEnd(trailers);
  }

  #write({ method, body }: UpstreamRequest, framing: Framing, handler: UpstreamHandler): void {
    const socket = this.#socket;
    this.#reader = new ResponseReader(this, method === 'HEAD');
    this.#isUploaded = body === undefined || Buffer.isBuffer(body);
    if (Buffer.isBuffer(body)) socket.write(joined(framing.head, body));
    else socket.write(framing.head, 'latin1');
    // A connection that was reset fails its first write at once, which has then written nothing.
    this.#isWritten = socket.errored === null;
    if (body !== undefined && !Buffer.isBuffer(body) && this.#isWritten) this.#upload(body, framing, handler);
  }

  #read(bytes: Buffer): void {
    const reader = this.#reader;
    if (reader === undefined) return this.destroy(upstreamError('reset', 'bytes on an idle connection'));
    try {
      reader.push(bytes);
    } catch (error) {
      return this.#broken(error);
    }
    this.#handler?.onReadEnd();
    if (reader.isEnded) this.#release(reader);
  }

  /** The provider has half-closed the connection, which gets no further request. */
  #ended(): void {
    if (this.#stage === 'tls') return this.destroy(upstreamError('tls', 'connection closed within the TLS handshake'));
    const reader = this.#reader;
    if (reader === undefined) return this.destroy(upstreamError('reset', 'idle connection closed'));
    try {
      reader.close();
    } catch (error) {
      return this.#broken(error);
    }
    this.#handler = undefined;
    this.#socket.destroy();
  }

  #upload(body: AsyncIterable<Buffer>, framing: Framing, handler: UpstreamHandler): void {
    const isOver = () => this.#handler !== handler;
    upload(this.#socket, body, framing, isOver).then(
      (isWhole) => {
        if (!isOver()) this.#isUploaded = isWhole;
      },
      (error: unknown) => {
        if (isOver()) return;
        this.destroy(isUpstreamError(error) ? error : upstreamError('request_aborted', 'request body ended early', error));
      },
    );
  }

  #release(reader: ResponseReader): void {
    const isReusable = reader.head?.isPersistent === true && reader.surplus === 0 && this.#isUploaded;
    this.#handler = undefined;
    this.#reader = undefined;
    if (!isReusable || this.#socket.destroyed) {
      this.#socket.destroy();
      return;
    }
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#owner.released(this, reader.head.keepAlive);
  }

  #broken(error: unknown): void {
    if (isUpstreamError(error)) return this.destroy(error);
    // A bug in the gateway fails the exchange like any other error.
    this.destroy(upstreamError('request_failed', 'response could not be forwarded', error));
    throw error;
  }
}

/** Whether a request may be sent twice: its method allows that, and its body was not streamed. */
function isRepeatable({ method, body }: UpstreamRequest): boolean {
  return IDEMPOTENT.has(method) && (body === undefined || Buffer.isBuffer(body));
}

/** One buffer is faster than a string and a buffer, which need a list, a request object and 4 µs more. */
function joined(head: string, body: Buffer): Buffer {
  const whole = Buffer.allocUnsafe(head.length + body.length);
  whole.write(head, 'latin1');
  whole.set(body, head.length);
  return whole;
}
