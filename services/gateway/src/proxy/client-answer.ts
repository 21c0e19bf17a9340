import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Up to this size a piece is copied behind what frames it, and both leave as one. */
const JOINED_MAX_BYTES = 16_384;

/** What node keeps of a response's head; it has no public name. */
interface NodeHead {
  readonly _header: string | null;
  _headerSent: boolean;
  readonly chunkedEncoding: boolean;
}

/** An answer on its way to the client: node makes its head and ends it, and what is between goes to the socket in as few pieces as
 *  there are. Node writes a head, a chunk's length, the chunk and its end each by itself: forwarding 2 KB took 4.5 % more CPU so. */
export class ClientAnswer {
  readonly #response: ServerResponse;
  /** Undefined while another answer is before this one on its connection: node then keeps the pieces until its turn comes. */
  #socket: Socket | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Makes the head. It leaves with the first piece, or by `flushHead`. */
  begin(status: number, reason: string, headers: string[]): void {
    this.#response.sendDate = false;
    this.#response.writeHead(status, reason, headers);
    this.#socket = this.#response.socket ?? undefined;
  }

  flushHead(): void {
    this.#response.flushHeaders();
  }

  /** False: the client is behind, hold the answer until `onceDrained`. */
  write(piece: Buffer): boolean {
    const socket = this.#socket;
    // To a chunked body, an empty piece would be its end.
    if (socket === undefined || piece.length === 0) return this.#response.write(piece);
    // Pieces that come at once leave at once.
    if (socket.writableCorked === 0) {
      socket.cork();
      queueMicrotask(() => socket.uncork());
    }
    return this.#send(socket, piece);
  }

  /** The last piece of an answer whose head told its length. */
  writeLast(piece: Buffer): void {
    if (this.#socket === undefined) {
      this.#response.end(piece);
      return;
    }
    this.#send(this.#socket, piece);
    this.#response.end();
  }

  end(): void {
    if (!this.#response.writableEnded) this.#response.end();
  }

  onceDrained(listener: () => void): void {
    (this.#socket ?? this.#response).once('drain', listener);
  }

  get isBehind(): boolean {
    return (this.#socket ?? this.#response).writableNeedDrain;
  }

  #send(socket: Socket, piece: Buffer): boolean {
    const node = this.#response as unknown as NodeHead;
    const head = node._headerSent ? '' : (node._header ?? '');
    node._headerSent = true;
    const before = node.chunkedEncoding ? `${head}${piece.length.toString(16)}\r\n` : head;
    const after = node.chunkedEncoding ? '\r\n' : '';
    if (piece.length <= JOINED_MAX_BYTES) return socket.write(joined(before, piece, after));
    if (before !== '') socket.write(before, 'latin1');
    const isRoom = socket.write(piece);
    return after === '' ? isRoom : socket.write(after, 'latin1');
  }
}

function joined(before: string, piece: Buffer, after: string): Buffer {
  if (before === '' && after === '') return piece;
  const whole = Buffer.allocUnsafe(before.length + piece.length + after.length);
  whole.write(before, 'latin1');
  whole.set(piece, before.length);
  whole.write(after, before.length + piece.length, 'latin1');
  return whole;
}
