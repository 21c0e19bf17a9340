import type { CapturedBody, CapturedExchange } from './captured-exchange.ts';

/** Exchanges serialized for the queue and for another thread: a buffer, which is transferred, not copied. */
export interface PackedExchanges {
  /** For each exchange its short fields as JSON, its header lines, which JSON would escape at twice the cost, and its body bytes. */
  readonly bytes: Buffer<ArrayBuffer>;
  /** Five lengths per exchange: JSON, header lines of the request and of the response, request body and response body. */
  readonly lengths: readonly number[];
}

const MIN_BYTES = 16_384;
/** The most bytes of UTF-8 for one UTF-16 unit. */
const UTF8_BYTES = 3;

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
    const { requestHeaders, responseHeaders, request, response } = exchange;
    const shortFields = { ...exchange, requestHeaders: '', responseHeaders: '' };
    const fields = { ...shortFields, request: { ...request, chunks: [] }, response: { ...response, chunks: [] } };
    const texts = [JSON.stringify(fields), requestHeaders, responseHeaders];
    const textLength = texts.reduce((length, text) => length + text.length, 0);
    this.#makeRoom(textLength * UTF8_BYTES + heldBytes(request) + heldBytes(response));
    for (const text of texts) this.#lengths.push(this.#write(text));
    for (const body of [request, response]) this.#lengths.push(this.#hold(body));
    this.count += 1;
  }

  pack(): PackedExchanges {
    return { bytes: this.#bytes, lengths: this.#lengths };
  }

  #write(text: string): number {
    const length = this.#bytes.write(text, this.#at);
    this.#at += length;
    return length;
  }

  #hold({ chunks }: CapturedBody): number {
    const start = this.#at;
    for (const chunk of chunks) {
      this.#bytes.set(chunk, this.#at);
      this.#at += chunk.length;
    }
    this.bodyBytes += this.#at - start;
    return this.#at - start;
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
    const [requestHeaders, responseHeaders] = [next().toString(), next().toString()];
    const [request, response] = [next(), next()];
    yield {
      ...exchange,
      requestHeaders,
      responseHeaders,
      request: { ...exchange.request, chunks: request.length === 0 ? [] : [request] },
      response: { ...exchange.response, chunks: response.length === 0 ? [] : [response] },
    };
  }
}

/** Body bytes that a captured body holds in memory. */
export function heldBytes({ chunks }: CapturedBody): number {
  return chunks.reduce((bytes, chunk) => bytes + chunk.length, 0);
}
