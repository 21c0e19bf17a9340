import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 16_384;
const READ_BYTES = 262_144;

interface Response {
  readonly resolve: (body: Buffer) => void;
  readonly reject: (error: Error) => void;
}

/** GETs over one connection, one at a time, into memory that is used again. A client that allocated 4 MB of new buffers for a large response spent
 *  most time in its own collections of 10 to 25 ms, every few requests. */
export class RawClient implements Disposable {
  readonly #port: number;
  /** The connection of the requests until the server closes it, as it does when idle. */
  #socket: Socket | undefined;
  #memory = Buffer.allocUnsafeSlow(READ_BYTES);
  /** Received bytes of the response, including its head. */
  #filled = 0;
  #bodyAt = 0;
  /** Of head and body; 0 while the head is not complete. */
  #length = 0;
  #response: Response | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** The body of a response with status 200, to its last byte; it is overwritten by the next one. */
  get(path: string): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#response = { resolve, reject };
    this.#filled = 0;
    this.#length = 0;
    this.#socket ??= this.#connect();
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1${HEAD_END}`);
    return promise;
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const callback = (bytes: number) => {
      this.#take(buffer.subarray(0, bytes));
      return true;
    };
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } });
    const end = (error: Error) => {
      if (this.#socket === socket) this.#fail(error);
    };
    socket.on('error', end).on('close', () => end(new Error('the connection was closed')));
    return socket;
  }

  #take(bytes: Buffer): void {
    this.#makeRoom(bytes.length);
    this.#filled += bytes.copy(this.#memory, this.#filled);
    if (this.#length === 0) this.#readHead();
    if (this.#length === 0 || this.#filled < this.#length) return;
    const body = this.#memory.subarray(this.#bodyAt, this.#length);
    const head = this.#memory.toString('latin1', 0, this.#bodyAt);
    if (!head.startsWith('HTTP/1.1 200 ')) return this.#fail(new Error(`${head}${body.toString()}`));
    this.#response?.resolve(body);
    this.#response = undefined;
  }

  #makeRoom(bytes: number): void {
    if (this.#filled + bytes <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#filled + bytes));
    this.#memory.copy(larger, 0, 0, this.#filled);
    this.#memory = larger;
  }

  #readHead(): void {
    const end = this.#memory.subarray(0, Math.min(this.#filled, MAX_HEAD_BYTES)).indexOf(HEAD_END);
    if (end === -1) return this.#filled < MAX_HEAD_BYTES ? undefined : this.#fail(new Error('a head without an end'));
    this.#bodyAt = end + HEAD_END.length;
    const length = /^content-length: (\d+)\r$/im.exec(this.#memory.toString('latin1', 0, this.#bodyAt))?.[1];
    if (length === undefined) return this.#fail(new Error('a response without content-length'));
    this.#length = this.#bodyAt + Number(length);
  }

  #fail(error: Error): void {
    this.#response?.reject(error);
    this.#response = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}
