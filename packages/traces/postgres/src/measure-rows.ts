import { addLatency, bucketOf, percentileOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { needsPercentiles, type Measure, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { usdPartsIn, type UsdParts } from '@vitrine/traces/usd';

/** A bucket as `measureStatement` selects it: element n of each array is of group n. Columns that the query does not need are missing. */
export interface MeasureRow {
  /** Milliseconds since the epoch; 0 without a bucket in the query. */
  readonly bucket: number;
  readonly names: readonly string[];
  readonly requests: readonly number[];
  readonly input_tokens?: readonly number[];
  readonly output_tokens?: readonly number[];
  readonly total_tokens?: readonly number[];
  readonly cost_usd?: readonly string[];
  readonly cost_upper_usd?: readonly string[];
  readonly rejected?: readonly number[];
  readonly unpriced?: readonly number[];
  readonly estimated?: readonly number[];
  readonly missing_usage?: readonly number[];
  readonly errors_4xx?: readonly number[];
  readonly errors_5xx?: readonly number[];
  readonly streams?: readonly number[];
  readonly latency_ms?: readonly number[];
  readonly first_token_us?: readonly number[];
  readonly latency_ms_min?: readonly number[];
  readonly latency_ms_max?: readonly number[];
  readonly last_active_at?: readonly number[];
  /** Pairs of latency bucket and count, as comma-separated numbers. */
  readonly latencies?: readonly (string | null)[];
  /** Latencies of single traces, in the same format. */
  readonly latency?: readonly (string | null)[];
}

const NO_COST: UsdParts = { thousands: 0, pico: 0 };

function costIn(text: string | undefined): UsdParts {
  return text === undefined ? NO_COST : usdPartsIn(text);
}

/** The measures of a row, in the order of its groups. */
export function* measuresIn(query: MeasureQuery, row: MeasureRow): Generator<Measure> {
  for (const [at, group] of row.names.entries()) {
    const [latencyMsMin, latencyMsMax] = [row.latency_ms_min?.[at] ?? 0, row.latency_ms_max?.[at] ?? 0];
    const counts = needsPercentiles(query) ? latencyCounts(row, at) : [];
    // A percentile is the middle of its bucket, which may be beyond the measured latencies.
    const percentile = (share: number) => Math.min(Math.max(percentileOf(counts, share), latencyMsMin), latencyMsMax);
    yield {
      bucketStart: row.bucket,
      group,
      requests: row.requests[at] ?? 0,
      rejected: row.rejected?.[at] ?? 0,
      unpriced: row.unpriced?.[at] ?? 0,
      estimated: row.estimated?.[at] ?? 0,
      missingUsage: row.missing_usage?.[at] ?? 0,
      errors4xx: row.errors_4xx?.[at] ?? 0,
      errors5xx: row.errors_5xx?.[at] ?? 0,
      inputTokens: row.input_tokens?.[at] ?? 0,
      outputTokens: row.output_tokens?.[at] ?? 0,
      totalTokens: row.total_tokens?.[at] ?? 0,
      cost: costIn(row.cost_usd?.[at]),
      upper: costIn(row.cost_upper_usd?.[at]),
      latencyMs: row.latency_ms?.[at] ?? 0,
      latencyMsMin,
      latencyMsMax,
      p50Ms: percentile(0.5),
      p95Ms: percentile(0.95),
      p99Ms: percentile(0.99),
      streams: row.streams?.[at] ?? 0,
      firstTokenUs: row.first_token_us?.[at] ?? 0,
      lastActive: row.last_active_at?.[at] ?? 0,
    };
  }
}

function latencyCounts({ latencies, latency }: MeasureRow, at: number): LatencyCounts {
  const counts: LatencyCounts = [];
  const pairs = numbersIn(latencies?.[at]);
  for (let pair = 0; pair < pairs.length; pair += 2) addLatency(counts, pairs[pair] ?? 0, pairs[pair + 1] ?? 0);
  for (const ms of numbersIn(latency?.[at])) addLatency(counts, bucketOf(ms), 1);
  return counts;
}

/** The numbers of a text like `12,3,400`. */
function numbersIn(text: string | null | undefined): readonly number[] {
  return JSON.parse(`[${text ?? ''}]`) as number[];
}
