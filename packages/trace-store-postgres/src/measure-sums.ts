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
  /** Of packed rows, as base64. */
  readonly packed_latencies?: string | null;
  /** Of others: pairs of bucket and count, and latencies of single traces, as numbers with commas between them. */
  readonly latencies?: readonly (string | null)[] | null;
  readonly latency?: readonly (string | null)[] | null;
}

type Sum = { -readonly [Field in keyof Measure]: Measure[Field] } & { readonly cost: UsdSum };

/** Adds up rows to the measures of a query, which it iterates over in the order of buckets, and then of groups. */
export class MeasureSums implements Iterable<Measure> {
  readonly #query: MeasureQuery;
  readonly #buckets = new Map<number, Map<string, Sum>>();
  readonly #latencies = new Map<Sum, LatencyCounts>();
  readonly #names = new RowNames();
  #length = 0;

  constructor(query: MeasureQuery) {
    this.#query = query;
  }

  /** Returns the number of groups. Faults: `too_many_groups`. */
  add(row: MeasureRow): number {
    const names = this.#names.of(row);
    const start = startOfRow(this.#query, row);
    const sums = this.#buckets.get(start) ?? new Map<string, Sum>();
    this.#buckets.set(start, sums);
    this.#addTo(sums, start, row, names);
    return names.length;
  }

  *[Symbol.iterator](): Generator<Measure> {
    for (const [, sums] of [...this.#buckets].toSorted(([left], [right]) => left - right))
      for (const sum of inOrder([...sums.values()])) yield this.#finished(sum);
  }

  #addTo(sums: Map<string, Sum>, start: number, row: MeasureRow, names: readonly string[]): void {
    const added = names.map((name, at) => {
      const group = row.is_packed ? groupOfPacked(this.#query, name) : name;
      const known = sums.get(group);
      if (known !== undefined) {
        addRow(known, row, at);
        return known;
      }
      if ((this.#length += 1) > MEASURES_MAX) throw tooManyGroups();
      const made = sumOf(start, group, row, at);
      sums.set(group, made);
      return made;
    });
    if (needsPercentiles(this.#query)) this.#addLatencies(added, row);
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

/** The beginning of the bucket of the query to which a row belongs; 0 without one. */
export function startOfRow({ bucket }: MeasureQuery, row: MeasureRow): number {
  return bucket === undefined ? 0 : bucketStartOf(row.bucket, bucket);
}

/** The names of rows. Hours that follow each other often have the same. */
export class RowNames {
  #last: { readonly text: string; readonly names: readonly string[] } = { text: '[]', names: [] };

  of({ names: text }: MeasureRow): readonly string[] {
    if (text !== this.#last.text) this.#last = { text, names: JSON.parse(text) as string[] };
    return this.#last.names;
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
