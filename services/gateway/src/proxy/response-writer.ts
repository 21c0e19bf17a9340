import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { framedChunks } from './framed-chunks.ts';

/** What Node refuses in a reason phrase; it carries no meaning, so the response goes on without it. */
const INVALID_REASON = /[^\t\x20-\x7e\x80-\xff]/;
/** How long the head of a stream waits for the first chunk of its body: sent apart, they cost a system call and a wake-up more. */
const HEAD_WAITS_MS = 2;
/** Chunks that come so soon after others leave together: each write costs gateway and client a system call and a wake-up. Models generate
 *  a token in several milliseconds, so that only bursts wait. */
const BURST_MS = 1;
/** Up to this size a body is written as one text with its head, and chunks wait for others. */
const JOINED_MAX_BYTES = 16_384;

/** Writes the response to the client: Node makes its head and ends it, and what is between goes to the socket, with all chunks of a read, or of a
 *  millisecond, in one write (docs/adr/0113). */
export class ResponseWriter {
  readonly #response: ServerResponse;
  #isHeadSent = false;
  #awaitsDrain = false;
  /** Undefined while another response is before this one on its connection: Node keeps the chunks then. */
  #socket: Socket | undefined;
  /** Those since the last `flush`, after which they may be overwritten. */
  readonly #chunks: Buffer[] = [];
  /** Bytes for the socket that wait for others, */
  #held: Buffer[] = [];
  /** their length, */
  #heldBytes = 0;
  /** and when others were sent, on the clock of `performance.now()`. */
  #sentAt = Number.NEGATIVE_INFINITY;

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

  /** Takes a chunk, which leaves with the next `flush`. */
  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** Writes the last chunk of a response whose head has its length. */
  writeLast(chunk: Buffer): void {
    // Node joins a head with a text, not with a buffer; writing two parts takes 4 µs more.
    const isWhole = !this.#isHeadSent && this.#chunks.length === 0;
    if (isWhole && chunk.length <= JOINED_MAX_BYTES) return void this.#response.end(chunk.toString('latin1'), 'latin1');
    this.write(chunk);
    this.end();
  }

  /** Takes note of the chunks that have come, and sends them unless they may wait for others. False: the client is behind, hold the response
   *  until `onceDrained`. */
  flush(): boolean {
    if (this.#chunks.length === 0) return true;
    this.#take();
    // Node has them.
    if (this.#heldBytes === 0) return !this.isBehind;
    const mayWait = this.#heldBytes < JOINED_MAX_BYTES && performance.now() - this.#sentAt < BURST_MS;
    if (!mayWait) this.#send();
    // The first that waits, waits longest.
    else if (this.#held.length === 1) setTimeout(() => this.#send(), BURST_MS);
    return !this.isBehind;
  }

  /** Sends all that has come, before the connection is closed in the middle of the response. */
  flushAll(): void {
    this.#take();
    this.#send();
  }

  end(): void {
    if (this.#response.writableEnded) return;
    this.#take();
    // The end leaves with the last chunks, when Node uncorks the socket.
    if (this.#heldBytes > 0) this.#socket?.cork();
    this.#send();
    this.#response.end();
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

  #take(): void {
    const chunks = this.#chunks;
    if (chunks.length === 0) return;
    if (this.#socket === undefined) {
      for (const chunk of chunks) this.#response.write(Buffer.from(chunk));
    } else {
      const bytes = this.#response.chunkedEncoding ? framedChunks(chunks) : Buffer.concat(chunks);
      this.#held.push(bytes);
      this.#heldBytes += bytes.length;
    }
    chunks.length = 0;
  }

  #send(): void {
    const [socket, held] = [this.#socket, this.#held];
    const [first] = held;
    if (socket === undefined || first === undefined || this.#response.destroyed) return;
    const isWithHead = !this.#isHeadSent;
    if (isWithHead) socket.cork();
    this.#flushHead();
    socket.write(held.length === 1 ? first : Buffer.concat(held));
    if (isWithHead) socket.uncork();
    this.#held = [];
    this.#heldBytes = 0;
    this.#sentAt = performance.now();
  }

  #flushHead(): void {
    if (this.#isHeadSent || this.#response.writableEnded || this.#response.destroyed) return;
    this.#isHeadSent = true;
    // Not `flushHeaders`, which encodes the head as UTF-8: a byte above 127 would arrive as two.
    this.#response.write('', 'latin1');
  }
}
