import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8_192;
export const TRACE_ID_BYTES = 16;
export const SPAN_ID_BYTES = 8;

/** Random ids. Their bytes are generated in bulk: a call for each would take as long as recording the span. */
export class RandomIds {
  readonly #pool = Buffer.alloc(POOL_BYTES);
  #at = POOL_BYTES;

  /** `bytes` random bytes in hexadecimal. */
  hex(bytes: number): string {
    const from = this.#take(bytes);
    return this.#pool.toString('hex', from, from + bytes);
  }

  /** Hexadecimal. */
  traceId(): string {
    return this.hex(TRACE_ID_BYTES);
  }

  /** Hexadecimal. */
  spanId(): string {
    return this.hex(SPAN_ID_BYTES);
  }

  /** A span's id into `target` at `at`, as bytes. */
  writeSpanId(target: Uint8Array, at: number): void {
    const from = this.#take(SPAN_ID_BYTES);
    for (let index = 0; index < SPAN_ID_BYTES; index += 1) target[at + index] = this.#pool[from + index]!;
  }

  #take(bytes: number): number {
    if (this.#at + bytes > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    this.#at += bytes;
    return this.#at - bytes;
  }
}
