import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What Node refuses in a reason phrase; it carries no meaning, so the response goes on without it. */
const INVALID_REASON = /[^\t\x20-\x7e\x80-\xff]/;
/** How long the head of a stream waits for the first chunk of its body: sent apart, they cost a system call and a wake-up more. */
const HEAD_WAITS_MS = 2;
/** Up to this size a chunk is copied between its framing, and a body is written as one text with its head. */
const JOINED_MAX_BYTES = 16_384;

/** Writes the response to the client: Node makes its head and ends it, and what is between goes to the socket. Through `response.write`, which
 *  writes a length, a chunk and its end each by itself, a stream of 50 chunks takes 10 % more CPU. */
export class ResponseWriter {
  readonly #response: ServerResponse;
  #isHeadSent = false;
  #awaitsDrain = false;
  /** Undefined while another response is before this one on its connection: Node keeps the chunks then. */
  #socket: Socket | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Makes the head. It leaves with the first chunk; that of a response without a length, such as a stream, after 2 ms at the latest. */
  begin(status: number, reason: string, headers: string[], hasLength: boolean): void {
    this.#response.sendDate = false;
    this.#response.writeHead(status, INVALID_REASON.test(reason) ? '' : reason, headers);
    this.#socket = this.#response.socket ?? undefined;
    if (!hasLength) setTimeout(() => this.#flushHead(), HEAD_WAITS_MS);
  }

  /** False: the client is behind, hold the response until `onceDrained`. */
  write(chunk: Buffer): boolean {
    const socket = this.#socket;
    // To a chunked body, an empty chunk would be its end.
    if (socket === undefined || chunk.length === 0) return this.#response.write(chunk);
    // Chunks that come at once leave at once.
    if (socket.writableCorked === 0) {
      socket.cork();
      queueMicrotask(() => socket.uncork());
    }
    this.#flushHead();
    return this.#response.chunkedEncoding ? writeFramed(socket, chunk) : socket.write(chunk);
  }

  /** Writes the last chunk of a response whose head has its length. */
  writeLast(chunk: Buffer): void {
    // Node joins a head with a text, not with a buffer; writing two parts takes 4 µs more.
    if (!this.#isHeadSent && chunk.length <= JOINED_MAX_BYTES) return void this.#response.end(chunk.toString('latin1'), 'latin1');
    this.write(chunk);
    this.#response.end();
  }

  end(): void {
    if (!this.#response.writableEnded) this.#response.end();
  }

  /** Calls back when the client has caught up; once for all the chunks that still come until then. */
  onceDrained(listener: () => void): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    (this.#socket ?? this.#response).once('drain', () => {
      this.#awaitsDrain = false;
      listener();
    });
  }

  get isBehind(): boolean {
    return (this.#socket ?? this.#response).writableNeedDrain;
  }

  #flushHead(): void {
    if (this.#isHeadSent || this.#response.writableEnded || this.#response.destroyed) return;
    this.#isHeadSent = true;
    // Not `flushHeaders`, which encodes the head as UTF-8: a byte above 127 would arrive as two.
    this.#response.write('', 'latin1');
  }
}

function writeFramed(socket: Socket, chunk: Buffer): boolean {
  const size = `${chunk.length.toString(16)}\r\n`;
  if (chunk.length > JOINED_MAX_BYTES) {
    socket.write(size, 'latin1');
    socket.write(chunk);
    return socket.write('\r\n', 'latin1');
  }
  const framed = Buffer.allocUnsafe(size.length + chunk.length + 2);
  framed.write(size, 'latin1');
  framed.set(chunk, size.length);
  framed.write('\r\n', size.length + chunk.length, 'latin1');
  return socket.write(framed);
}
