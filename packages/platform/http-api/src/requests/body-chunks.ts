/** Shorter chunks are copied together. */
const SMALL_BYTES = 1_024;
const BLOCK_MAX_BYTES = 16_384;
const NOTHING = Buffer.alloc(0);

/** The chunks of a body in order, in few buffers. Kept as they come, chunks of one byte would take some 200 bytes of memory each. Small chunks are
 *  copied, into at most twice their bytes and 1 KiB. Large chunks are not: their memory must not be overwritten. */
export class BodyChunks {
  readonly list: Buffer[] = [];
  /** Has room for small chunks after `#end`. */
  #block = NOTHING;
  #end = 0;
  /** Where the last chunk of the list begins in the block; undefined when the next small chunk begins a new one. */
  #start: number | undefined;

  push(chunk: Buffer): void {
    if (chunk.length >= SMALL_BYTES) {
      this.list.push(chunk);
      this.#start = undefined;
      return;
    }
    if (chunk.length > this.#block.length - this.#end) {
      this.#block = Buffer.allocUnsafeSlow(Math.min(BLOCK_MAX_BYTES, Math.max(SMALL_BYTES, 2 * this.#block.length)));
      this.#end = 0;
      this.#start = undefined;
    }
    this.#block.set(chunk, this.#end);
    const start = this.#start ?? this.#end;
    this.#end += chunk.length;
    if (this.#start !== undefined) this.list.pop();
    this.list.push(this.#block.subarray(start, this.#end));
    this.#start = start;
  }

  /** The whole body. */
  joined(): Buffer {
    const [only = NOTHING, ...more] = this.list;
    return more.length === 0 ? only : Buffer.concat(this.list);
  }
}
