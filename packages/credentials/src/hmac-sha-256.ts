import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const MAC_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** HMAC-SHA-256 of short latin-1 texts under one key, as latin-1 text. Source: RFC 2104.
 *
 *  Made of two calls of `hash`, which takes 0.2 µs where an `Hmac` object takes 1.5 to 3.5: this runs for every request. */
export class HmacSha256 {
  readonly #inner: Buffer;
  readonly #outer: Buffer;

  /** `maxLength`: of the texts, in characters. */
  constructor(key: Buffer, maxLength: number) {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.set(key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key);
    this.#inner = Buffer.concat([block.map((byte) => byte ^ INNER_PAD), Buffer.alloc(maxLength)]);
    this.#outer = Buffer.concat([block.map((byte) => byte ^ OUTER_PAD), Buffer.alloc(MAC_BYTES)]);
  }

  of(text: string): string {
    const length = this.#inner.write(text, BLOCK_BYTES, 'latin1');
    if (length < text.length) throw new RangeError('the text is too long');
    this.#outer.write(hash('sha256', this.#inner.subarray(0, BLOCK_BYTES + length), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', this.#outer, 'binary');
  }
}
