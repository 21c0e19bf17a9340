import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { framedChunks } from './framed-chunks.ts';

/** Characters that Node refuses in a reason phrase. The phrase has no meaning, so the response is sent without it. */
const INVALID_REASON = /[^\t\x20-\x7e\x80-\xff]/;
/** Up to this size a body is written as one string with its head. */
const JOINED_MAX_BYTES = 16_384;

/** Writes the response to the client: Node writes the head and the end. The chunks between go to the socket, all chunks of a read in one write
 *  (docs/design/proxy.md#streaming). Nothing waits for later chunks. */
export class ResponseWriter {
  readonly #response: ServerResponse;
  #isHeadSent = false;
  #awaitsDrain = false;
  /** Undefined while another response precedes this one on its connection. Node then buffers the chunks. */
  #socket: Socket | undefined;
  /** Chunks of the read in progress. */
  readonly #chunks: Buffer[] = [];

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Prepares the head, which is sent with the next `flush`. */
  begin(status: number, reason: string, headers: string[]): void {
    this.#response.sendDate = false;
    this.#response.writeHead(status, INVALID_REASON.test(reason) ? '' : reason, headers);
    this.#socket = this.#response.socket ?? undefined;
  }

  /** Takes a chunk, which is sent with the next `flush`. */
  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** Writes the last chunk of a response whose head has its length. */
  writeLast(chunk: Buffer): void {
    // Node joins a head with a string, but not with a buffer. Writing two parts takes 4 µs more.
    const isWhole = !this.#isHeadSent && this.#chunks.length === 0;
    if (isWhole && chunk.length <= JOINED_MAX_BYTES) return void this.#response.end(chunk.toString('latin1'), 'latin1');
    this.write(chunk);
    this.end();
  }

  /** Sends the head and the taken chunks, which may be overwritten afterwards. False: the client is behind, pause the response until
   *  `onceDrained`. */
  flush(): boolean {
    const { headersSent: hasBegun, writableEnded, destroyed } = this.#response;
    if (!hasBegun || writableEnded || destroyed) return true;
    const socket = this.#socket;
    if (socket === undefined) {
      this.#flushHead();
      for (const chunk of this.#chunks) this.#response.write(Buffer.from(chunk));
    } else if (!this.#isHeadSent || this.#chunks.length > 0) {
      socket.cork();
      this.#flushHead();
      if (this.#chunks.length > 0)
        socket.write(this.#response.chunkedEncoding ? framedChunks(this.#chunks) : Buffer.concat(this.#chunks));
      socket.uncork();
    }
    this.#chunks.length = 0;
    return !this.isBehind;
  }

  /** `trailers`: alternating names and values, which Node drops from a response that is not chunked. */
  end(trailers: readonly string[] = []): void {
    if (this.#response.writableEnded) return;
    if (trailers.length > 0) this.#response.addTrailers(pairsOf(trailers));
    // The end is sent with the last chunks, when Node uncorks the socket.
    this.#socket?.cork();
    if (this.#chunks.length > 0) this.flush();
    this.#response.end();
    this.#socket?.uncork();
  }

  /** Calls back when the client has caught up; once for all chunks that arrive until then. */
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
    if (this.#isHeadSent) return;
    this.#isHeadSent = true;
    // Not `flushHeaders`, which encodes the head as UTF-8: a byte above 127 would arrive as two.
    this.#response.write('', 'latin1');
  }
}

function pairsOf(headers: readonly string[]): [string, string][] {
  return headers.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : []));
}
