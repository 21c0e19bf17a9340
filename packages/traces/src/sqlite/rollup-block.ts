import { addLatency, type LatencyCounts } from '../latency-histogram.ts';
import { noSums, type Rollup, type Rollups, type Sums } from './rollup.ts';
import { NumberReader, NumberWriter } from './varints.ts';

/** Roll-ups of one hour or day as two blobs. Latencies stand apart: most questions do not need them. */
export interface PackedRollups {
  readonly sums: Uint8Array;
  readonly latencies: Uint8Array;
}

/** Packs roll-ups of what began at `start` or after, in 40 to 60 bytes each and 2 to 3 a latency bucket. Every roll-up is its three
 *  numbers, the length of the rest, and the rest, so that those that do not matter are stepped over. */
export function packRollups(rollups: Rollups, start: number): PackedRollups {
  const sums = new NumberWriter();
  const latencies = new NumberWriter();
  const rest = new NumberWriter();
  for (const one of rollups.values()) {
    rest.clear();
    writeSums(rest, one, start);
    for (const number of [one.scope, one.model, one.credential, rest.length]) sums.whole(number);
    sums.append(rest);
    rest.clear();
    let last = 0;
    for (const [bucket, count] of [...one.latencies].toSorted(([left], [right]) => left - right)) {
      rest.whole(bucket - last);
      rest.whole(count);
      last = bucket;
    }
    latencies.whole(rest.length);
    latencies.append(rest);
  }
  return { sums: sums.bytes(), latencies: latencies.bytes() };
}

function writeSums(to: NumberWriter, sums: Sums, start: number): void {
  to.double(sums.costUsd);
  to.whole(sums.requests);
  to.whole(sums.errors4xx);
  to.whole(sums.errors5xx);
  to.whole(sums.streams);
  to.whole(sums.inputTokens);
  to.whole(sums.outputTokens);
  to.whole(sums.totalTokens);
  to.whole(sums.latencyMs);
  to.whole(sums.firstTokenUs);
  to.whole(sums.latencyMsMin);
  to.whole(sums.latencyMsMax - sums.latencyMsMin);
  to.whole(sums.tokensMin);
  to.whole(sums.tokensMax - sums.tokensMin);
  to.signed(sums.lastActive - start);
  to.signed(sums.oldest - start);
  to.whole(sums.newest - sums.oldest);
}

const NO_LATENCIES = new NumberReader(new Uint8Array(0));

/** Goes through packed roll-ups, one after the other, without making an object of each. */
export class RollupCursor {
  scope = 0;
  model = 0;
  credential = 0;
  readonly #sums: NumberReader;
  readonly #latencies: NumberReader | undefined;
  readonly #start: number;
  readonly #current: Sums = noSums();
  #sumsEnd = 0;
  #latenciesEnd = 0;

  /** Without `latencies` none can be asked for. */
  constructor(sums: Uint8Array, latencies: Uint8Array | undefined, start: number) {
    this.#sums = new NumberReader(sums);
    this.#latencies = latencies === undefined ? undefined : new NumberReader(latencies);
    this.#start = start;
  }

  /** Goes to the next roll-up; false when there is none. */
  next(): boolean {
    const from = this.#sums;
    from.at = this.#sumsEnd;
    if (from.isAtEnd) return false;
    this.scope = from.whole();
    this.model = from.whole();
    this.credential = from.whole();
    const length = from.whole();
    this.#sumsEnd = from.at + length;
    if (this.#latencies !== undefined) {
      this.#latencies.at = this.#latenciesEnd;
      const latenciesLength = this.#latencies.whole();
      this.#latenciesEnd = this.#latencies.at + latenciesLength;
    }
    return true;
  }

  /** The sums of the roll-up that the cursor is at. To be asked for once, and overwritten by the next. */
  sums(): Readonly<Sums> {
    const from = this.#sums;
    const to = this.#current;
    to.costUsd = from.double();
    to.requests = from.whole();
    to.errors4xx = from.whole();
    to.errors5xx = from.whole();
    to.streams = from.whole();
    to.inputTokens = from.whole();
    to.outputTokens = from.whole();
    to.totalTokens = from.whole();
    to.latencyMs = from.whole();
    to.firstTokenUs = from.whole();
    to.latencyMsMin = from.whole();
    to.latencyMsMax = to.latencyMsMin + from.whole();
    to.tokensMin = from.whole();
    to.tokensMax = to.tokensMin + from.whole();
    to.lastActive = this.#start + from.signed();
    to.oldest = this.#start + from.signed();
    to.newest = to.oldest + from.whole();
    return to;
  }

  /** Adds the latencies of the roll-up that the cursor is at. To be asked for once. */
  addLatenciesTo(counts: LatencyCounts): void {
    const from = this.#latencies ?? NO_LATENCIES;
    let bucket = 0;
    while (from.at < this.#latenciesEnd) {
      bucket += from.whole();
      addLatency(counts, bucket, from.whole());
    }
  }

  /** The roll-up that the cursor is at, as an object. */
  rollup(): Rollup {
    const latencies = new Map<number, number>();
    const from = this.#latencies ?? NO_LATENCIES;
    let bucket = 0;
    while (from.at < this.#latenciesEnd) {
      bucket += from.whole();
      latencies.set(bucket, from.whole());
    }
    return { scope: this.scope, model: this.model, credential: this.credential, ...this.sums(), latencies };
  }
}
