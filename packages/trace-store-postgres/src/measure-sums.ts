import { addLatency, bucketOf, percentileOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { MEASURES_MAX, needsPercentiles, tooManyGroups, type Measure, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { usdPartsIn, UsdSum } from '@vitrine/traces/usd';
import { forEachNumber } from './numbers-in.ts';
import { groupOfPacked } from './packed-groups.ts';
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

const ADDED = [
  ['requests', 'requests'],
  ['errors_4xx', 'errors4xx'],
  ['errors_5xx', 'errors5xx'],
  ['input_tokens', 'inputTokens'],
  ['output_tokens', 'outputTokens'],
  ['total_tokens', 'totalTokens'],
  ['latency_ms', 'latencyMs'],
  ['streams', 'streams'],
  ['first_token_us', 'firstTokenUs'],
] as const satisfies readonly (readonly [keyof MeasureRow, keyof Measure])[];

/** Adds up rows to the measures of a query. */
export class MeasureSums {
  readonly #query: MeasureQuery;
  readonly #buckets = new Map<number, Map<string, Sum>>();
  /** Buckets whose groups may not be in order: rows of one statement are. */
  readonly #merged = new Set<number>();
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
    for (const [column, field] of ADDED) addNumbers(sums, field, row[column]);
    for (const [at, sum] of sums.entries()) {
      if (row.cost_usd !== undefined) addCost(sum, row.cost_usd[at]);
      if (row.latency_ms_min !== undefined) sum.latencyMsMin = Math.min(sum.latencyMsMin, row.latency_ms_min[at] ?? 0);
      if (row.latency_ms_max !== undefined) sum.latencyMsMax = Math.max(sum.latencyMsMax, row.latency_ms_max[at] ?? 0);
      if (row.last_active_at !== undefined) sum.lastActive = Math.max(sum.lastActive, row.last_active_at[at] ?? 0);
    }
    if (needsPercentiles(this.#query)) this.#addLatencies(sums, row);
    return sums.length;
  }

  /** Ordered by bucket, then by group. */
  measures(): Measure[] {
    return [...this.#buckets]
      .toSorted(([left], [right]) => left - right)
      .flatMap(([start, groups]) => {
        const sums = [...groups.values()];
        return this.#merged.has(start) ? inOrder(sums) : sums;
      })
      .map((sum) => this.#finished(sum));
  }

  #sumsOf({ is_packed: isPacked, bucket, names: text }: MeasureRow): Sum[] {
    if (text !== this.#names.text) this.#names = { text, names: JSON.parse(text) as string[] };
    const start = this.#query.bucket === undefined ? 0 : bucketStartOf(bucket, this.#query.bucket);
    const known = this.#buckets.get(start);
    if (known !== undefined) this.#merged.add(start);
    const groups = known ?? new Map<string, Sum>();
    this.#buckets.set(start, groups);
    return this.#names.names.map((name) => {
      const group = isPacked ? groupOfPacked(this.#query, name) : name;
      const sum = groups.get(group);
      if (sum !== undefined) return sum;
      if ((this.#count += 1) > MEASURES_MAX) throw tooManyGroups();
      const made = noSum(start, group);
      groups.set(group, made);
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

function noSum(bucketStart: number, group: string): Sum {
  return {
    bucketStart,
    group,
    requests: 0,
    errors4xx: 0,
    errors5xx: 0,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    cost: new UsdSum(),
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

function addNumbers(sums: readonly Sum[], field: (typeof ADDED)[number][1], values: readonly number[] | undefined): void {
  if (values === undefined) return;
  for (let at = 0; at < sums.length; at += 1) {
    const sum = sums[at];
    if (sum !== undefined) sum[field] += values[at] ?? 0;
  }
}

function addCost({ cost }: Sum, usd: string | undefined): void {
  if (usd === undefined) return;
  const { thousands, pico } = usdPartsIn(usd);
  cost.addParts(thousands, pico);
}

/** By their bytes in UTF-8, as the database orders them. */
function inOrder(sums: readonly Sum[]): Sum[] {
  return sums
    .map((sum) => [Buffer.from(sum.group), sum] as const)
    .toSorted(([left], [right]) => Buffer.compare(left, right))
    .map(([, sum]) => sum);
}
