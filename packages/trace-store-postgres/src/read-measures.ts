import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { readInPages } from '@vitrine/postgres/read-in-pages';
import { addLatency, bucketOf, percentileOf, type LatencyCounts } from '@vitrine/traces/latency-histogram';
import { MEASURES_MAX, needsPercentiles, tooManyGroups, type Measure, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { usdPartsIn } from '@vitrine/traces/usd';
import { measureStatement, partHoursOf, type PartHour } from './measure-query.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Rows that are converted within one turn of the event loop: a millisecond or two. */
const ROWS_PER_TURN = 1_000;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;

interface MeasureRow {
  readonly bucket: number;
  readonly grp: string;
  readonly requests: number;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly total_tokens?: number;
  readonly cost_usd?: string;
  readonly errors_4xx?: number;
  readonly errors_5xx?: number;
  readonly streams?: number;
  readonly latency_ms?: number;
  readonly first_token_us?: number;
  readonly latency_ms_min?: number;
  readonly latency_ms_max?: number;
  readonly last_active_at?: number;
  /** Pairs of bucket and count, and latencies of single traces: numbers with commas between them. */
  readonly latencies?: string | null;
  readonly latency?: string | null;
}

/** Faults: `too_many_groups`. */
export async function readMeasures(pool: PostgresPool, query: MeasureQuery): Promise<Measure[]> {
  const { text, values } = measureStatement(query, await readPartHours(pool, partHoursOf(query)));
  const rows = await (mayBeLong(query) ? readInPages<MeasureRow>(pool, text, values) : pool.query<MeasureRow>(text, values));
  if (rows.length > MEASURES_MAX) throw tooManyGroups();
  const measures: Measure[] = [];
  for (const [at, row] of rows.entries()) {
    if (at % ROWS_PER_TURN === 0 && at > 0) await nextTurn();
    measures.push(measureOf(row, needsPercentiles(query)));
  }
  return measures;
}

function mayBeLong({ bucket, groupBy }: MeasureQuery): boolean {
  return bucket === 'hour' && groupBy !== undefined;
}

/** Before the statement that needs them: as values they select partitions when it is planned. */
async function readPartHours(pool: PostgresPool, hours: readonly number[]): Promise<PartHour[]> {
  if (hours.length === 0) return [];
  return await pool.query<PartHour>(
    `SELECT hour, first_created_at AS first, last_created_at AS last, first_created_at < removed_before AS "isGone"
     FROM trace_hours, trace_retention WHERE hour = ANY ($1)`,
    [hours.map((hour) => new Date(hour))],
  );
}

function measureOf(row: MeasureRow, hasPercentiles: boolean): Measure {
  const [latencyMsMin, latencyMsMax] = [row.latency_ms_min ?? 0, row.latency_ms_max ?? 0];
  const counts = hasPercentiles ? latenciesIn(row) : undefined;
  // Percentiles are middles of buckets, which may lie beyond what really was.
  const percentile = (share: number) =>
    counts === undefined ? 0 : Math.min(Math.max(percentileOf(counts, share), latencyMsMin), latencyMsMax);
  return {
    bucketStart: row.bucket,
    group: row.grp,
    requests: row.requests,
    errors4xx: row.errors_4xx ?? 0,
    errors5xx: row.errors_5xx ?? 0,
    inputTokens: row.input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    totalTokens: row.total_tokens ?? 0,
    cost: usdPartsIn(row.cost_usd ?? '0'),
    latencyMs: row.latency_ms ?? 0,
    latencyMsMin,
    latencyMsMax,
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
    p99Ms: percentile(0.99),
    streams: row.streams ?? 0,
    firstTokenUs: row.first_token_us ?? 0,
    lastActive: row.last_active_at ?? 0,
  };
}

function latenciesIn({ latencies, latency }: MeasureRow): LatencyCounts {
  const counts: LatencyCounts = [];
  let bucket: number | undefined;
  forEachNumber(latencies, (number) => {
    if (bucket !== undefined) addLatency(counts, bucket, number);
    bucket = bucket === undefined ? number : undefined;
  });
  forEachNumber(latency, (ms) => addLatency(counts, bucketOf(ms), 1));
  return counts;
}

/** A month of histograms has 750,000 numbers: 20 ms, and with `split` and `Number` 80. */
function forEachNumber(text: string | null | undefined, take: (number: number) => void): void {
  if (text === null || text === undefined || text === '') return;
  let number = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== COMMA) number = number * 10 + code - DIGIT_0;
    else {
      take(number);
      number = 0;
    }
  }
  take(number);
}
