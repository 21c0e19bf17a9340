import { percentileOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import type { Measure } from '@vitrine/traces/trace-analytics';
import { picoIn, PICO_PER_THOUSAND, thousandsIn, usdOf } from '@vitrine/traces/usd';
import type { UsageSums } from './rollup-block.ts';
import type { MeasuredTrace, Sums } from './rollup.ts';

const FIRST_ROWS = 64;

/** Where the numbers of a measure stand in its row. */
const PLACES = {
  bucketStart: 0,
  requests: 1,
  errors4xx: 2,
  errors5xx: 3,
  inputTokens: 4,
  outputTokens: 5,
  totalTokens: 6,
  costThousands: 7,
  costPico: 8,
  latencyMs: 9,
  latencyMsMin: 10,
  latencyMsMax: 11,
  streams: 12,
  firstTokenUs: 13,
  lastActive: 14,
  p50Ms: 15,
  p95Ms: 16,
  p99Ms: 17,
} as const satisfies Record<Exclude<keyof Measure, 'group' | 'costUsd'>, number>;
const PERCENTILES = [
  [PLACES.p50Ms, 0.5],
  [PLACES.p95Ms, 0.95],
  [PLACES.p99Ms, 0.99],
] as const;
const ROW = Object.keys(PLACES).length;

/** What an answer tells of sums. */
export type MeasuredSums = Readonly<Omit<Sums, 'tokensMin' | 'tokensMax' | 'oldest' | 'newest'>>;

/** Measures while they are added up. They are rows of one array: an object for each would be eighteen numbers on the heap. */
export class MeasureRows {
  #numbers = new Float64Array(FIRST_ROWS * ROW);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Makes an empty row; answers its place. */
  make(bucketStart: number): number {
    const row = this.#count;
    this.#count += 1;
    if (this.#count * ROW > this.#numbers.length) {
      const larger = new Float64Array(2 * this.#numbers.length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[row * ROW + PLACES.bucketStart] = bucketStart;
    this.#numbers[row * ROW + PLACES.latencyMsMin] = Number.MAX_SAFE_INTEGER;
    return row;
  }

  /** The other numbers of the row say nothing then. */
  addUsage(row: number, sums: UsageSums): void {
    const numbers = this.#numbers;
    const at = row * ROW;
    numbers[at + PLACES.requests]! += sums.requests;
    numbers[at + PLACES.inputTokens]! += sums.inputTokens;
    numbers[at + PLACES.outputTokens]! += sums.outputTokens;
    numbers[at + PLACES.totalTokens]! += sums.totalTokens;
    addCost(numbers, at, sums.costThousands, sums.costPico);
  }

  add(row: number, sums: MeasuredSums): void {
    this.addUsage(row, sums);
    const numbers = this.#numbers;
    const at = row * ROW;
    numbers[at + PLACES.errors4xx]! += sums.errors4xx;
    numbers[at + PLACES.errors5xx]! += sums.errors5xx;
    numbers[at + PLACES.latencyMs]! += sums.latencyMs;
    numbers[at + PLACES.streams]! += sums.streams;
    numbers[at + PLACES.firstTokenUs]! += sums.firstTokenUs;
    this.#widen(row, sums.latencyMsMin, sums.latencyMsMax, sums.lastActive);
  }

  addTrace(row: number, trace: Readonly<MeasuredTrace>): void {
    this.#add(row, PLACES.requests, 1);
    if (trace.status >= 500) this.#add(row, PLACES.errors5xx, 1);
    else if (trace.status >= 400) this.#add(row, PLACES.errors4xx, 1);
    this.#add(row, PLACES.inputTokens, trace.inputTokens);
    this.#add(row, PLACES.outputTokens, trace.outputTokens);
    this.#add(row, PLACES.totalTokens, trace.totalTokens);
    const thousands = thousandsIn(trace.costUsd);
    addCost(this.#numbers, row * ROW, thousands, picoIn(trace.costUsd, thousands));
    this.#add(row, PLACES.latencyMs, trace.latencyMs);
    if (trace.firstTokenUs > 0) this.#add(row, PLACES.streams, 1);
    this.#add(row, PLACES.firstTokenUs, trace.firstTokenUs);
    this.#widen(row, trace.latencyMs, trace.latencyMs, trace.timestamp);
  }

  /** Percentiles are middles of buckets, which may lie beyond what really was. */
  setPercentiles(row: number, latencies: LatencyCounts): void {
    const numbers = this.#numbers;
    const at = row * ROW;
    const [min, max] = [numbers[at + PLACES.latencyMsMin] ?? 0, numbers[at + PLACES.latencyMsMax] ?? 0];
    for (const [place, share] of PERCENTILES) numbers[at + place] = Math.min(Math.max(percentileOf(latencies, share), min), max);
  }

  /** The measure of a row, once everything is added up. */
  measure(row: number, group: string): Measure {
    return new MeasureRow(this.#numbers, row * ROW, group);
  }

  #add(row: number, place: number, value: number): void {
    const at = row * ROW + place;
    this.#numbers[at] = (this.#numbers[at] ?? 0) + value;
  }

  #widen(row: number, latencyMsMin: number, latencyMsMax: number, lastActive: number): void {
    const numbers = this.#numbers;
    const at = row * ROW;
    if (latencyMsMin < (numbers[at + PLACES.latencyMsMin] ?? 0)) numbers[at + PLACES.latencyMsMin] = latencyMsMin;
    if (latencyMsMax > (numbers[at + PLACES.latencyMsMax] ?? 0)) numbers[at + PLACES.latencyMsMax] = latencyMsMax;
    if (lastActive > (numbers[at + PLACES.lastActive] ?? 0)) numbers[at + PLACES.lastActive] = lastActive;
  }
}

/** Adds to the cost of the row that begins at `at`. */
function addCost(numbers: Float64Array, at: number, thousands: number, pico: number): void {
  const sum = numbers[at + PLACES.costPico]! + pico;
  const carried = sum < PICO_PER_THOUSAND ? 0 : 1;
  numbers[at + PLACES.costPico] = sum - carried * PICO_PER_THOUSAND;
  numbers[at + PLACES.costThousands]! += thousands + carried;
}

/** A measure that reads its numbers where they stand. Thirty thousand objects of eighteen numbers took as long as adding them up. */
class MeasureRow implements Measure {
  readonly group: string;
  readonly #numbers: Float64Array;
  readonly #at: number;

  constructor(numbers: Float64Array, at: number, group: string) {
    this.group = group;
    this.#numbers = numbers;
    this.#at = at;
  }

  get bucketStart(): number {
    return this.#read(PLACES.bucketStart);
  }

  get requests(): number {
    return this.#read(PLACES.requests);
  }

  get errors4xx(): number {
    return this.#read(PLACES.errors4xx);
  }

  get errors5xx(): number {
    return this.#read(PLACES.errors5xx);
  }

  get inputTokens(): number {
    return this.#read(PLACES.inputTokens);
  }

  get outputTokens(): number {
    return this.#read(PLACES.outputTokens);
  }

  get totalTokens(): number {
    return this.#read(PLACES.totalTokens);
  }

  get costUsd(): number {
    return usdOf(this.costThousands, this.costPico);
  }

  get costThousands(): number {
    return this.#read(PLACES.costThousands);
  }

  get costPico(): number {
    return this.#read(PLACES.costPico);
  }

  get latencyMs(): number {
    return this.#read(PLACES.latencyMs);
  }

  get latencyMsMin(): number {
    return this.#read(PLACES.latencyMsMin);
  }

  get latencyMsMax(): number {
    return this.#read(PLACES.latencyMsMax);
  }

  get streams(): number {
    return this.#read(PLACES.streams);
  }

  get firstTokenUs(): number {
    return this.#read(PLACES.firstTokenUs);
  }

  get lastActive(): number {
    return this.#read(PLACES.lastActive);
  }

  get p50Ms(): number {
    return this.#read(PLACES.p50Ms);
  }

  get p95Ms(): number {
    return this.#read(PLACES.p95Ms);
  }

  get p99Ms(): number {
    return this.#read(PLACES.p99Ms);
  }

  #read(place: number): number {
    return this.#numbers[this.#at + place] ?? 0;
  }
}
