import { addLatency, bucketOf, percentileOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { MEASURES_MAX, needsPercentiles, tooManyGroups, type Measure, type MeasureQuery } from '@vitrine/traces/trace-measures';
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
  /** Of packed rows. */
  readonly packed_latencies?: Uint8Array | null;
  /** Of others: pairs of bucket and count, and latencies of single traces, as numbers with commas between them. */
  readonly latencies?: readonly (string | null)[] | null;
  readonly latency?: readonly (string | null)[] | null;
}

type Sum = { -readonly [Field in keyof Measure]: Measure[Field] } & { readonly cost: UsdSum };

/** The sums of one bucket, in the order of its first row. */
interface BucketSums {
  readonly sums: Sum[];
  /** Made for its second row: most have one. */
  byGroup?: Map<string, Sum>;
}

/** Adds up rows to the measures of a query. */
export class MeasureSums {
  readonly #query: MeasureQuery;
  readonly #buckets = new Map<number, BucketSums>();
  readonly #latencies = new Map<Sum, LatencyCounts>();
  /** Hours that follow each other often have the same names. */
  #names: { readonly text: string; readonly names: readonly string[] } = { text: '[]', names: [] };
  #count = 0;

  constructor(query: MeasureQuery) {
    this.#query = query;
  }

  /** Returns the number of groups. Faults: `too_many_groups`. */
  add(row: MeasureRow): number {
    const sums = this.#sumsOf(row);
    for (const [at, sum] of sums.entries()) addRow(sum, row, at);
    if (needsPercentiles(this.#query)) this.#addLatencies(sums, row);
    return sums.length;
  }

  /** Ordered by bucket, then by group. */
  measures(): Measure[] {
    const measures: Measure[] = [];
    for (const [, { sums, byGroup }] of [...this.#buckets].toSorted(([left], [right]) => left - right))
      for (const sum of byGroup === undefined ? sums : inOrder(sums)) measures.push(this.#finished(sum));
    return measures;
  }

  #sumsOf({ is_packed: isPacked, bucket: time, names: text, cost_usd: costs }: MeasureRow): Sum[] {
    if (text !== this.#names.text) this.#names = { text, names: JSON.parse(text) as string[] };
    const start = this.#query.bucket === undefined ? 0 : bucketStartOf(time, this.#query.bucket);
    const make = (group: string) => {
      if ((this.#count += 1) > MEASURES_MAX) throw tooManyGroups();
      return noSum(start, group, costs !== undefined);
    };
    const known = this.#buckets.get(start);
    // Groups of a row are in order, and none is there twice, unless packed rows are divided further than the query.
    if (known === undefined && (!isPacked || isGroupOfPacked(this.#query))) {
      const sums = this.#names.names.map(make);
      this.#buckets.set(start, { sums });
      return sums;
    }
    const bucket = known ?? { sums: [] };
    this.#buckets.set(start, bucket);
    const byGroup = (bucket.byGroup ??= new Map(bucket.sums.map((sum) => [sum.group, sum])));
    return this.#names.names.map((name) => {
      const group = isPacked ? groupOfPacked(this.#query, name) : name;
      const sum = byGroup.get(group);
      if (sum !== undefined) return sum;
      const made = make(group);
      byGroup.set(group, made);
      bucket.sums.push(made);
      return made;
    });
  }

  #addLatencies(sums: readonly Sum[], { packed_latencies: bytes, latencies, latency }: MeasureRow): void {
    const packed = bytes ? new PackedLatencies(bytes) : undefined;
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

function noSum(bucketStart: number, group: string, hasCost: boolean): Sum {
  return {
    bucketStart,
    group,
    requests: 0,
    errors4xx: 0,
    errors5xx: 0,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    cost: hasCost ? new UsdSum() : NO_COST,
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
