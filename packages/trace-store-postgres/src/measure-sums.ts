import { addLatency, bucketOf, percentileOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import {
  MEASURES_MAX,
  needsPercentiles,
  tooManyGroups,
  type Measure,
  type MeasureQuery,
  type MeasureSeries,
} from '@vitrine/traces/trace-measures';
import { usdPartsIn, UsdSum } from '@vitrine/traces/usd';
import { forEachNumber } from './numbers-in.ts';
import { groupOfPacked, isGroupOfPacked } from './packed-groups.ts';
import { PackedLatencies } from './packed-latencies.ts';

/** A row of `measureStatement`: element n of each array is of group n. Columns that the query does not need are not there. */
export interface MeasureRow {
  readonly is_packed: boolean;
  readonly bucket: number;
  /** JSON of an array. */
  readonly names: string;
  readonly requests: readonly number[];
  readonly input_tokens?: readonly number[];
  readonly output_tokens?: readonly number[];
  readonly total_tokens?: readonly number[];
  readonly cost_usd?: readonly string[];
  readonly errors_4xx?: readonly number[];
  readonly errors_5xx?: readonly number[];
  readonly streams?: readonly number[];
  readonly latency_ms?: readonly number[];
  readonly first_token_us?: readonly number[];
  readonly latency_ms_min?: readonly number[];
  readonly latency_ms_max?: readonly number[];
  readonly last_active_at?: readonly number[];
  /** Of packed rows, as base64. */
  readonly packed_latencies?: string | null;
  /** Of others: pairs of bucket and count, and latencies of single traces, as numbers with commas between them. */
  readonly latencies?: readonly (string | null)[] | null;
  readonly latency?: readonly (string | null)[] | null;
}

type Sum = { -readonly [Field in keyof Measure]: Measure[Field] } & { readonly cost: UsdSum };

/** A bucket of which there is one row so far is that row: 30,000 objects for the measures of a month would survive several collections of the
 *  young generation, which took longer than adding them up. */
type BucketSums = OnlyRow | Map<string, Sum>;
interface OnlyRow {
  readonly row: MeasureRow;
  readonly names: readonly string[];
}

/** Adds up rows to the measures of a query, which it iterates over in the order of buckets, and then of groups. */
export class MeasureSums implements MeasureSeries {
  readonly #query: MeasureQuery;
  readonly #buckets = new Map<number, BucketSums>();
  readonly #latencies = new Map<Sum, LatencyCounts>();
  /** Hours that follow each other often have the same names. */
  #names: { readonly text: string; readonly names: readonly string[] } = { text: '[]', names: [] };
  #length = 0;

  constructor(query: MeasureQuery) {
    this.#query = query;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns the number of groups. Faults: `too_many_groups`. */
  add(row: MeasureRow): number {
    if (row.names !== this.#names.text) this.#names = { text: row.names, names: JSON.parse(row.names) as string[] };
    const { names } = this.#names;
    const start = this.#query.bucket === undefined ? 0 : bucketStartOf(row.bucket, this.#query.bucket);
    const known = this.#buckets.get(start);
    if (known === undefined && this.#isEachGroupOnce(row)) {
      this.#grow(names.length);
      this.#buckets.set(start, { row, names });
    } else this.#addTo(this.#sumsOf(start, known), start, row, names);
    return names.length;
  }

  *[Symbol.iterator](): Generator<Measure> {
    for (const [start, bucket] of [...this.#buckets].toSorted(([left], [right]) => left - right))
      if (bucket instanceof Map) for (const sum of inOrder([...bucket.values()])) yield this.#finished(sum);
      else for (const [at, name] of bucket.names.entries()) yield this.#finished(sumOf(start, name, bucket.row, at));
  }

  /** Such a row has its groups in order. */
  #isEachGroupOnce({ is_packed: isPacked }: MeasureRow): boolean {
    return !needsPercentiles(this.#query) && (!isPacked || isGroupOfPacked(this.#query));
  }

  #sumsOf(start: number, known: BucketSums | undefined): Map<string, Sum> {
    if (known instanceof Map) return known;
    const sums = new Map(known?.names.map((name, at) => [name, sumOf(start, name, known.row, at)]));
    this.#buckets.set(start, sums);
    return sums;
  }

  #addTo(sums: Map<string, Sum>, start: number, row: MeasureRow, names: readonly string[]): void {
    const added = names.map((name, at) => {
      const group = row.is_packed ? groupOfPacked(this.#query, name) : name;
      const known = sums.get(group);
      if (known !== undefined) {
        addRow(known, row, at);
        return known;
      }
      this.#grow(1);
      const made = sumOf(start, group, row, at);
      sums.set(group, made);
      return made;
    });
    if (needsPercentiles(this.#query)) this.#addLatencies(added, row);
  }

  #grow(groups: number): void {
    if ((this.#length += groups) > MEASURES_MAX) throw tooManyGroups();
  }

  #addLatencies(sums: readonly Sum[], { packed_latencies: base64, latencies, latency }: MeasureRow): void {
    const packed = base64 ? new PackedLatencies(Buffer.from(base64, 'base64')) : undefined;
    for (const [at, sum] of sums.entries()) {
      const counts = this.#latencies.get(sum) ?? [];
      this.#latencies.set(sum, counts);
      packed?.addNext(counts);
      let bucket: number | undefined;
      forEachNumber(latencies?.[at], (number) => {
        if (bucket !== undefined) addLatency(counts, bucket, number);
        bucket = bucket === undefined ? number : undefined;
      });
      forEachNumber(latency?.[at], (ms) => addLatency(counts, bucketOf(ms), 1));
    }
  }

  #finished(sum: Sum): Measure {
    if (sum.latencyMsMin === Number.POSITIVE_INFINITY) sum.latencyMsMin = 0;
    const counts = this.#latencies.get(sum);
    if (counts === undefined) return sum;
    // Percentiles are middles of buckets, which may lie beyond what really was.
    const percentile = (share: number) => Math.min(Math.max(percentileOf(counts, share), sum.latencyMsMin), sum.latencyMsMax);
    [sum.p50Ms, sum.p95Ms, sum.p99Ms] = [percentile(0.5), percentile(0.95), percentile(0.99)];
    return sum;
  }
}

/** Of what the query does not need the cost, for all of them. */
const NO_COST = new UsdSum();

function sumOf(bucketStart: number, group: string, row: MeasureRow, at: number): Sum {
  const sum: Sum = {
    bucketStart,
    group,
    requests: 0,
    errors4xx: 0,
    errors5xx: 0,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    cost: row.cost_usd === undefined ? NO_COST : new UsdSum(),
    latencyMs: 0,
    latencyMsMin: Number.POSITIVE_INFINITY,
    latencyMsMax: 0,
    p50Ms: 0,
    p95Ms: 0,
    p99Ms: 0,
    streams: 0,
    firstTokenUs: 0,
    lastActive: 0,
  };
  addRow(sum, row, at);
  return sum;
}

/** Column by column in one place: reading them by their names takes four times as long. */
function addRow(sum: Sum, row: MeasureRow, at: number): void {
  sum.requests += row.requests[at] ?? 0;
  sum.inputTokens += row.input_tokens?.[at] ?? 0;
  sum.outputTokens += row.output_tokens?.[at] ?? 0;
  sum.totalTokens += row.total_tokens?.[at] ?? 0;
  sum.errors4xx += row.errors_4xx?.[at] ?? 0;
  sum.errors5xx += row.errors_5xx?.[at] ?? 0;
  sum.streams += row.streams?.[at] ?? 0;
  sum.firstTokenUs += row.first_token_us?.[at] ?? 0;
  sum.latencyMs += row.latency_ms?.[at] ?? 0;
  const cost = row.cost_usd?.[at];
  if (cost !== undefined) {
    const { thousands, pico } = usdPartsIn(cost);
    sum.cost.addParts(thousands, pico);
  }
  if (row.latency_ms_min !== undefined) sum.latencyMsMin = Math.min(sum.latencyMsMin, row.latency_ms_min[at] ?? 0);
  if (row.latency_ms_max !== undefined) sum.latencyMsMax = Math.max(sum.latencyMsMax, row.latency_ms_max[at] ?? 0);
  if (row.last_active_at !== undefined) sum.lastActive = Math.max(sum.lastActive, row.last_active_at[at] ?? 0);
}

/** By their bytes in UTF-8, as the database orders them. */
function inOrder(sums: readonly Sum[]): Sum[] {
  return sums
    .map((sum) => [Buffer.from(sum.group), sum] as const)
    .toSorted(([left], [right]) => Buffer.compare(left, right))
    .map(([, sum]) => sum);
}
