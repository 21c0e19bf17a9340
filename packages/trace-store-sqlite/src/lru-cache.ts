import type { SeriesSegment } from '@vitrine/traces/series-text';

/** What a piece takes beside its text, at most. */
const OVERHEAD_BYTES = 512;

/** Remembers pieces of series by what they were made of: those that were asked for last, up to `maxBytes` of them. */
export class LruCache {
  readonly #maxBytes: number;
  /** The one asked for last stands last. */
  readonly #pieces = new Map<string, SeriesSegment>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): SeriesSegment | undefined {
    const found = this.#pieces.get(key);
    if (found === undefined) return undefined;
    this.#pieces.delete(key);
    this.#pieces.set(key, found);
    return found;
  }

  /** One that is not there yet. */
  add(key: string, piece: SeriesSegment): void {
    const bytes = sizeOf(key, piece);
    if (bytes > this.#maxBytes) return;
    for (const [oldest, of] of this.#pieces) {
      if (this.#bytes + bytes <= this.#maxBytes) break;
      this.#pieces.delete(oldest);
      this.#bytes -= sizeOf(oldest, of);
    }
    this.#pieces.set(key, piece);
    this.#bytes += bytes;
  }
}

function sizeOf(key: string, { json }: SeriesSegment): number {
  return json.byteLength + 2 * key.length + OVERHEAD_BYTES;
}
