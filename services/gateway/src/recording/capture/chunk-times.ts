import type { ChunkTime } from '@vitrine/trace-derivation/captured-exchange';

const MAX_PAIRS = 256;
/** The last three places, in this order. The others are samples. */
const [GAP_START, GAP_END, LAST] = [MAX_PAIRS - 3, MAX_PAIRS - 2, MAX_PAIRS - 1];

/** When the chunks of a stream arrived: at most 256 of them, spread evenly, with the first, the last and both ends of the longest gap. Of chunks in
 *  the same millisecond the first one counts. 4 KiB; 0.1 us a chunk with the clock, 20 us at the end of 256. Spec: G4.28. */
export class ChunkTimes {
  readonly #pairs = new Float64Array(2 * MAX_PAIRS);
  #samples = 0;
  /** Every so many chunks one is a sample. */
  #stride = 1;
  #chunks = 0;
  #longestGap = 0;

  /** `offset` and `ms` may not decrease. */
  add(offset: number, ms: number): void {
    const pairs = this.#pairs;
    if (this.#chunks > 0) {
      const gap = ms - (pairs[2 * LAST + 1] ?? 0);
      if (gap === 0) return;
      if (gap > this.#longestGap) {
        this.#longestGap = gap;
        pairs.copyWithin(2 * GAP_START, 2 * LAST);
        this.#set(GAP_END, offset, ms);
      }
    }
    this.#set(LAST, offset, ms);
    if (this.#samples === GAP_START && this.#isSample) this.#thin();
    if (this.#isSample) this.#set(this.#samples++, offset, ms);
    this.#chunks += 1;
  }

  /** Both numbers increase. */
  pairs(): ChunkTime[] {
    const found: ChunkTime[] = [];
    const take = (place: number): void => {
      const offset = this.#offset(place);
      if (offset > (found.at(-1)?.[0] ?? -1)) found.push([offset, this.#pairs[2 * place + 1] ?? 0]);
    };
    let other = this.#chunks > 1 ? GAP_START : MAX_PAIRS;
    for (let sample = 0; sample < this.#samples; sample += 1) {
      while (other < MAX_PAIRS && this.#offset(other) < this.#offset(sample)) take(other++);
      take(sample);
    }
    while (other < MAX_PAIRS) take(other++);
    return found;
  }

  #offset(place: number): number {
    return this.#pairs[2 * place] ?? 0;
  }

  get #isSample(): boolean {
    return this.#chunks % this.#stride === 0;
  }

  /** Drops every other sample. */
  #thin(): void {
    const pairs = this.#pairs;
    for (let from = 0; from < this.#samples; from += 2) pairs.copyWithin(from, 2 * from, 2 * from + 2);
    this.#samples = Math.ceil(this.#samples / 2);
    this.#stride *= 2;
  }

  #set(place: number, offset: number, ms: number): void {
    this.#pairs[2 * place] = offset;
    this.#pairs[2 * place + 1] = ms;
  }
}
