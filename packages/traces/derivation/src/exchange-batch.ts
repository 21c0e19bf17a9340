import type { CapturedBody, CapturedExchange } from './captured-exchange.ts';

/** Exchanges serialized for the queue and for another thread: a buffer, which is transferred, not copied. */
export interface PackedExchanges {
  /** For each exchange its fields as JSON, then its body bytes. */
  readonly bytes: Buffer<ArrayBuffer>;
  /** Three lengths per exchange: JSON, request body and response body. */
  readonly lengths: readonly number[];
}

const MIN_BYTES = 16_384;

/** Collects exchanges for a sink. Their bytes are copied at once. Otherwise objects referenced by a waiting exchange would survive several
 *  collections of a heap that turns over every 50 ms, and a socket could still write from memory that is transferred to another thread. */
export class ExchangeBatch {
  count = 0;
  /** Body bytes as counted by the budget. */
  bodyBytes = 0;
  readonly #capacity: number;
  readonly #lengths: number[] = [];
  #bytes: Buffer<ArrayBuffer>;
  #at = 0;

  /** Room for `capacity` exchanges; `expectedBytes` saves growing. `memory` is reused from a finished batch. */
  constructor(capacity: number, expectedBytes: number, memory?: Buffer<ArrayBuffer>) {
    this.#capacity = capacity;
    this.#bytes = memory ?? Buffer.allocUnsafeSlow(Math.max(MIN_BYTES, expectedBytes));
  }

  get isFull(): boolean {
    return this.count >= this.#capacity;
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#at;
  }

  add(exchange: CapturedExchange): void {
    const { request, response } = exchange;
    const fields = JSON.stringify({ ...exchange, request: { ...request, chunks: [] }, response: { ...response, chunks: [] } });
    const [length, sent, received] = [Buffer.byteLength(fields), heldBytes(request), heldBytes(response)];
    this.#makeRoom(length + sent + received);
    this.#lengths.push(length, sent, received);
    this.#at += this.#bytes.write(fields, this.#at);
    for (const chunk of [...request.chunks, ...response.chunks]) {
      this.#bytes.set(chunk, this.#at);
      this.#at += chunk.length;
    }
    this.bodyBytes += sent + received;
    this.count += 1;
  }

  pack(): PackedExchanges {
    return { bytes: this.#bytes, lengths: this.#lengths };
  }

  #makeRoom(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** The exchanges of a batch, decoded one by one as they are read. */
export function* unpackExchanges({ bytes, lengths }: PackedExchanges): Generator<CapturedExchange> {
  // A Buffer arrives from another thread as a plain Uint8Array.
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let n = 0;
  let at = 0;
  const next = () => {
    const start = at;
    at += lengths[n++] ?? 0;
    return buffer.subarray(start, at);
  };
  while (n < lengths.length) {
    const exchange = JSON.parse(next().toString()) as CapturedExchange;
    const [request, response] = [next(), next()];
    yield {
      ...exchange,
      request: { ...exchange.request, chunks: request.length === 0 ? [] : [request] },
      response: { ...exchange.response, chunks: response.length === 0 ? [] : [response] },
    };
  }
}

/** Body bytes that a captured body holds in memory. */
export function heldBytes({ chunks }: CapturedBody): number {
  return chunks.reduce((bytes, chunk) => bytes + chunk.length, 0);
}
