import { addLatency, type LatencyCounts } from '@vitrine/traces/latency-histogram';

/** Pairs of bucket and count. */
export type LatencyPairs = readonly (readonly [bucket: number, count: number])[];

const LOW = 128;

/** Appends a histogram to the bytes of those before it: how many pairs, then for each the distance of its bucket from the one before, and its
 *  count, as LEB128. A pair takes 2 bytes where its text takes 6: a month by key has a million of them. `pairs` are in the order of buckets. */
export function packLatencies(bytes: number[], pairs: LatencyPairs): void {
  append(bytes, pairs.length);
  let last = 0;
  for (const [bucket, count] of pairs) {
    append(bytes, bucket - last);
    append(bytes, count);
    last = bucket;
  }
}

/** Reads the histograms that `packLatencies` appended, one after the other. */
export class PackedLatencies {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Adds the next histogram to counts by bucket. Almost all numbers are a byte. */
  addNext(counts: LatencyCounts): void {
    const bytes = this.#bytes;
    const pairs = this.#number();
    let at = this.#at;
    let bucket = 0;
    for (let left = pairs; left > 0; left -= 1) {
      const distance = bytes[at] ?? 0;
      const count = bytes[at + 1] ?? 0;
      if (distance < LOW && count < LOW) {
        at += 2;
        bucket += distance;
        if (bucket < counts.length) counts[bucket] = (counts[bucket] ?? 0) + count;
        else addLatency(counts, bucket, count);
      } else {
        this.#at = at;
        bucket += this.#number();
        addLatency(counts, bucket, this.#number());
        at = this.#at;
      }
    }
    this.#at = at;
  }

  /** Without shifts: a count may be beyond 32 bits. */
  #number(): number {
    let byte = this.#bytes[this.#at++] ?? 0;
    let number = byte % LOW;
    for (let unit = LOW; byte >= LOW; unit *= LOW) {
      byte = this.#bytes[this.#at++] ?? 0;
      number += (byte % LOW) * unit;
    }
    return number;
  }
}

function append(bytes: number[], number: number): void {
  let rest = number;
  for (; rest >= LOW; rest = Math.floor(rest / LOW)) bytes.push((rest % LOW) + LOW);
  bytes.push(rest);
}
