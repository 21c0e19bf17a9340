import { percentileOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { picoIn, PICO_PER_THOUSAND, thousandsIn } from '@vitrine/traces/usd';
import { PLACES, rowLength } from './measure-table.ts';
import type { UsageSums } from './rollup-block.ts';
import type { MeasuredTrace, Sums } from './rollup.ts';

const FIRST_ROWS = 64;
const PERCENTILES = [
  [PLACES.p50Ms, 0.5],
  [PLACES.p95Ms, 0.95],
  [PLACES.p99Ms, 0.99],
] as const;

/** The sums that are in a measure. */
export type MeasuredSums = Readonly<Omit<Sums, 'tokensMin' | 'tokensMax' | 'oldest' | 'newest'>>;

/** Measures while they are added up. They are rows of one array: an object for each would be eighteen numbers on the heap. */
export class MeasureRows {
  readonly rowLength: number;
  readonly #usageOnly: boolean;
  #numbers: Float64Array<ArrayBuffer>;
  #count = 0;

  /** `usageOnly`: without the other sums. */
  constructor(usageOnly: boolean) {
    this.#usageOnly = usageOnly;
    this.rowLength = rowLength(usageOnly);
    this.#numbers = new Float64Array(FIRST_ROWS * this.rowLength);
  }

  get count(): number {
    return this.#count;
  }

  /** All rows, and unused space after them. */
  get numbers(): Float64Array<ArrayBuffer> {
    return this.#numbers;
  }

  /** Adds an empty row; returns its number. `group`: the place of its name. */
  make(bucketStart: number, group: number): number {
    const row = this.#count;
    this.#count += 1;
    if (this.#count * this.rowLength > this.#numbers.length) {
      const larger = new Float64Array(2 * this.#numbers.length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[row * this.rowLength + PLACES.bucketStart] = bucketStart;
    this.#numbers[row * this.rowLength + PLACES.group] = group;
    if (!this.#usageOnly) this.#numbers[row * this.rowLength + PLACES.latencyMsMin] = Number.MAX_SAFE_INTEGER;
    return row;
  }

  /** Leaves the other sums of the row at 0. */
  addUsage(row: number, sums: UsageSums): void {
    const numbers = this.#numbers;
    const at = row * this.rowLength;
    numbers[at + PLACES.requests]! += sums.requests;
    numbers[at + PLACES.inputTokens]! += sums.inputTokens;
    numbers[at + PLACES.outputTokens]! += sums.outputTokens;
    numbers[at + PLACES.totalTokens]! += sums.totalTokens;
    addCost(numbers, at, sums.costThousands, sums.costPico);
  }

  add(row: number, sums: MeasuredSums): void {
    this.addUsage(row, sums);
    if (this.#usageOnly) return;
    const numbers = this.#numbers;
    const at = row * this.rowLength;
    numbers[at + PLACES.errors4xx]! += sums.errors4xx;
    numbers[at + PLACES.errors5xx]! += sums.errors5xx;
    numbers[at + PLACES.latencyMs]! += sums.latencyMs;
    numbers[at + PLACES.streams]! += sums.streams;
    numbers[at + PLACES.firstTokenUs]! += sums.firstTokenUs;
    this.#widen(row, sums.latencyMsMin, sums.latencyMsMax, sums.lastActive);
  }

  addTrace(row: number, trace: Readonly<MeasuredTrace>): void {
    this.#add(row, PLACES.requests, 1);
    this.#add(row, PLACES.inputTokens, trace.inputTokens);
    this.#add(row, PLACES.outputTokens, trace.outputTokens);
    this.#add(row, PLACES.totalTokens, trace.totalTokens);
    const thousands = thousandsIn(trace.costUsd);
    addCost(this.#numbers, row * this.rowLength, thousands, picoIn(trace.costUsd, thousands));
    if (this.#usageOnly) return;
    if (trace.status >= 500) this.#add(row, PLACES.errors5xx, 1);
    else if (trace.status >= 400) this.#add(row, PLACES.errors4xx, 1);
    this.#add(row, PLACES.latencyMs, trace.latencyMs);
    if (trace.firstTokenUs > 0) this.#add(row, PLACES.streams, 1);
    this.#add(row, PLACES.firstTokenUs, trace.firstTokenUs);
    this.#widen(row, trace.latencyMs, trace.latencyMs, trace.timestamp);
  }

  /** Percentiles are middles of buckets, which may lie beyond what really was. */
  setPercentiles(row: number, latencies: LatencyCounts): void {
    const numbers = this.#numbers;
    const at = row * this.rowLength;
    const [min, max] = [numbers[at + PLACES.latencyMsMin] ?? 0, numbers[at + PLACES.latencyMsMax] ?? 0];
    for (const [place, share] of PERCENTILES) numbers[at + place] = Math.min(Math.max(percentileOf(latencies, share), min), max);
  }

  #add(row: number, place: number, value: number): void {
    const at = row * this.rowLength + place;
    this.#numbers[at] = (this.#numbers[at] ?? 0) + value;
  }

  #widen(row: number, latencyMsMin: number, latencyMsMax: number, lastActive: number): void {
    const numbers = this.#numbers;
    const at = row * this.rowLength;
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
