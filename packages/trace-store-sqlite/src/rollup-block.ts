import { addLatency, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { picoIn, PICO_PER_USD, thousandsIn } from '@vitrine/traces/usd';
import { addSums, noSums, type Rollup, type Rollups, type Sums } from './rollup.ts';
import { NumberReader, NumberWriter } from './varints.ts';

/** Roll-ups of one hour or day as two blobs. Latencies stand apart: most questions do not need them. */
export interface PackedRollups {
  readonly count: number;
  readonly sums: Uint8Array;
  readonly latencies: Uint8Array;
}

const NOTHING: PackedRollups = { count: 0, sums: new Uint8Array(0), latencies: new Uint8Array(0) };

/** Adds roll-ups of what began at `start` or after to packed ones, in 40 to 60 bytes each and 2 to 3 a latency bucket. Every roll-up
 *  is its three numbers, the length of the rest, and the rest, so that those that do not matter are stepped over. Takes what it adds
 *  out of `fresh`. */
export function packRollups(fresh: Rollups, start: number, packed: PackedRollups = NOTHING): PackedRollups {
  const sums = new NumberWriter();
  const latencies = new NumberWriter();
  const rest = new NumberWriter();
  let count = 0;
  // Latencies go through one array of all buckets: a map of them, sorted, took longer, and so did an array for each.
  const counts: LatencyCounts = [];
  const write = (one: Rollup) => {
    count += 1;
    rest.clear();
    writeSums(rest, one, start);
    for (const number of [one.scope, one.model, one.credential, rest.length]) sums.whole(number);
    sums.append(rest);
    for (const [bucket, more] of one.latencies) addLatency(counts, bucket, more);
    rest.clear();
    writeCounts(rest, counts);
    latencies.whole(rest.length);
    latencies.append(rest);
  };
  const cursor = new RollupCursor(packed.sums, packed.latencies, start);
  while (cursor.next()) {
    const one = fresh.take(cursor.scope, cursor.model, cursor.credential);
    if (one === undefined) {
      count += 1;
      cursor.copyTo(sums, latencies);
    } else {
      addSums(one, cursor.sums());
      cursor.addLatenciesTo(counts);
      write(one);
    }
  }
  for (const one of fresh.values()) write(one);
  return { count, sums: sums.bytes(), latencies: latencies.bytes() };
}

/** Steps and counts in turn (see `NumberReader.addCounts`); leaves zeros behind. */
function writeCounts(to: NumberWriter, counts: LatencyCounts): void {
  let last = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    const count = counts[bucket] ?? 0;
    if (count === 0) continue;
    to.whole(bucket - last);
    to.whole(count);
    counts[bucket] = 0;
    last = bucket;
  }
}

function writeSums(to: NumberWriter, sums: Sums, start: number): void {
  writeCost(to, sums);
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

/** A cost below a thousand dollars is the double next to it, which says exactly which trillionth it is; as it has been since the first
 *  roll-up. A larger one is the negative of its thousands, and its trillionths below a thousand. */
function writeCost(to: NumberWriter, { costThousands, costPico }: Sums): void {
  to.double(costThousands === 0 ? costPico / PICO_PER_USD : -costThousands);
  if (costThousands > 0) to.whole(costPico);
}

function readCost(from: NumberReader, to: Sums): void {
  const first = from.double();
  if (first < 0) {
    to.costThousands = -first;
    to.costPico = from.whole();
  } else {
    // Before schema 4 any cost was a double, with the noise of all that had been added up.
    to.costThousands = thousandsIn(first);
    to.costPico = picoIn(first, to.costThousands);
  }
}

/** What requests used. */
export type UsageSums = Readonly<
  Pick<Sums, 'requests' | 'inputTokens' | 'outputTokens' | 'totalTokens' | 'costThousands' | 'costPico'>
>;

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

  /** `latencies` is needed for `addLatenciesTo` only. */
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

  /** Copies the roll-up that the cursor is at. To be called instead of `sums` and `addLatenciesTo`. */
  copyTo(sums: NumberWriter, latencies: NumberWriter): void {
    for (const number of [this.scope, this.model, this.credential, this.#sumsEnd - this.#sums.at]) sums.whole(number);
    sums.copy(this.#sums.rest(this.#sumsEnd));
    if (this.#latencies === undefined) return;
    latencies.whole(this.#latenciesEnd - this.#latencies.at);
    latencies.copy(this.#latencies.rest(this.#latenciesEnd));
  }

  /** Of the roll-up that the cursor is at, what was used: half of the numbers, which stand first. To be called instead of `sums`. */
  usage(): UsageSums {
    const from = this.#sums;
    const to = this.#current;
    readCost(from, to);
    to.requests = from.whole();
    to.errors4xx = from.whole();
    to.errors5xx = from.whole();
    to.streams = from.whole();
    to.inputTokens = from.whole();
    to.outputTokens = from.whole();
    to.totalTokens = from.whole();
    return to;
  }

  /** The sums of the roll-up that the cursor is at. To be called once; the next call overwrites the result. */
  sums(): Readonly<Sums> {
    this.usage();
    const from = this.#sums;
    const to = this.#current;
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

  /** Adds the latencies of the roll-up that the cursor is at. To be called once. */
  addLatenciesTo(counts: LatencyCounts): void {
    this.#latencies?.addCounts(counts, this.#latenciesEnd);
  }
}
