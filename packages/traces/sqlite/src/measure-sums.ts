import { percentileOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { MEASURES_MAX, needsPercentiles, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { PICO_PER_THOUSAND } from '@vitrine/traces/usd';
import { PLACES, ROW_LENGTH, type MeasureTable } from './measure-table.ts';

const FIRST_ROWS = 64;
const PERCENTILES = [
  [PLACES.p50Ms, 0.5],
  [PLACES.p95Ms, 0.95],
  [PLACES.p99Ms, 0.99],
] as const;
const COSTS = [
  [PLACES.costThousands, PLACES.costPico],
  [PLACES.upperThousands, PLACES.upperPico],
] as const;
/** Positions of a row that are the maximum or minimum of the added values. */
const EXTREMES: ReadonlyMap<number, (...values: number[]) => number> = new Map([
  [PLACES.latencyMsMin, Math.min],
  [PLACES.latencyMsMax, Math.max],
  [PLACES.lastActive, Math.max],
]);

/** The measures of a query while being summed: rows of one array, because an object for each would be two dozen numbers on the heap. */
export class MeasureSums {
  readonly #query: MeasureQuery;
  readonly #buckets = new Map<number, Map<string, number>>();
  readonly #groups: string[] = [];
  readonly #latencies: LatencyCounts[] = [];
  #numbers = new Float64Array(FIRST_ROWS * ROW_LENGTH);

  constructor(query: MeasureQuery) {
    this.#query = query;
  }

  /** Whether there are more rows than a result may have. */
  get isTooMany(): boolean {
    return this.#groups.length > MEASURES_MAX;
  }

  /** Adds sums, whose values are at the positions of a row from `requests` to `lastActive`. Returns the index of their row. */
  add(at: number, group: string, sums: readonly unknown[]): number {
    const row = this.#rowOf(at, group);
    const numbers = this.#numbers;
    const first = row * ROW_LENGTH;
    for (let place = PLACES.requests as number; place <= PLACES.lastActive; place += 1) {
      const [sum, value] = [numbers[first + place] ?? 0, Number(sums[place])];
      numbers[first + place] = EXTREMES.get(place)?.(sum, value) ?? sum + value;
    }
    for (const [thousands, pico] of COSTS) {
      if (numbers[first + pico]! < PICO_PER_THOUSAND) continue;
      numbers[first + pico]! -= PICO_PER_THOUSAND;
      numbers[first + thousands]! += 1;
    }
    return row;
  }

  latenciesOf(row: number): LatencyCounts {
    return (this.#latencies[row] ??= []);
  }

  /** Undefined when there are more rows than a result may have. Call it once. */
  table(): MeasureTable | undefined {
    if (this.isTooMany) return undefined;
    const order = [...this.#buckets]
      .toSorted(([left], [right]) => left - right)
      .flatMap(([, rows]) => [...rows].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row));
    if (needsPercentiles(this.#query)) for (const row of order) this.#setPercentiles(row);
    return { numbers: this.#numbers, order: Uint32Array.from(order), groups: this.#groups };
  }

  #rowOf(at: number, group: string): number {
    const { bucket } = this.#query;
    const start = bucket === undefined ? 0 : bucketStartOf(at, bucket);
    const rows = this.#buckets.get(start) ?? new Map<string, number>();
    this.#buckets.set(start, rows);
    const known = rows.get(group);
    if (known !== undefined) return known;
    const row = this.#groups.push(group) - 1;
    rows.set(group, row);
    if (this.#groups.length * ROW_LENGTH > this.#numbers.length) {
      const larger = new Float64Array(2 * this.#numbers.length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[row * ROW_LENGTH + PLACES.bucketStart] = start;
    this.#numbers[row * ROW_LENGTH + PLACES.latencyMsMin] = Number.MAX_SAFE_INTEGER;
    return row;
  }

  /** Percentiles are middles of buckets, which may be beyond the measured values. */
  #setPercentiles(row: number): void {
    const numbers = this.#numbers;
    const at = row * ROW_LENGTH;
    const [min, max] = [numbers[at + PLACES.latencyMsMin] ?? 0, numbers[at + PLACES.latencyMsMax] ?? 0];
    for (const [place, share] of PERCENTILES)
      numbers[at + place] = Math.min(Math.max(percentileOf(this.latenciesOf(row), share), min), max);
  }
}
