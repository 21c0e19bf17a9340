import type { Tenant } from './exchange-scope.ts';

/** What traces are grouped by. `route` follows from the provider, `key` is the gateway key. */
export const GROUPS = ['provider', 'model', 'route', 'key', 'api_key_hash'] as const;
export type Group = (typeof GROUPS)[number];
/** What a series of usage or cost can be divided by, and what latency and errors. */
export const SERIES_GROUPS = ['provider', 'model'] as const satisfies readonly Group[];
export const BREAKDOWN_GROUPS = ['provider', 'model', 'route', 'key'] as const satisfies readonly Group[];
export const BUCKETS = ['hour', 'day', 'week'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** Which traces to measure, and how to divide them. Times are milliseconds since the epoch, both ends inclusive on `timestamp`;
 *  texts match exactly. Spec: gateway, Analytics query parameters. */
export interface MeasureQuery {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** Whose traces; undefined: everybody's. */
  readonly tenant?: Tenant | undefined;
  readonly groupBy?: Group | undefined;
  readonly bucket?: Bucket | undefined;
  /** Whether percentiles are wanted; without them an answer is cheaper. */
  readonly percentiles?: boolean;
  /** Whether requests, tokens and cost are all that is wanted: the other sums say nothing then, and an answer is cheaper. */
  readonly usageOnly?: boolean;
}

/** Sums over the traces of one group in one bucket. */
export interface Measure {
  /** Milliseconds since the epoch; 0 when no bucket was asked for. Buckets are UTC, weeks begin on Monday. */
  readonly bucketStart: number;
  /** '' when no group was asked for, or for what has none: no credential, no gateway key. */
  readonly group: string;
  readonly requests: number;
  readonly errors4xx: number;
  readonly errors5xx: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** The double next to the sum, */
  readonly costUsd: number;
  /** and the sum itself, of which it may fall short: thousands of dollars, and trillionths below a thousand (`usd.ts`). */
  readonly costThousands?: number;
  readonly costPico?: number;
  readonly latencyMs: number;
  readonly latencyMsMin: number;
  readonly latencyMsMax: number;
  /** Nearest rank, at most 1 % wrong; 0 when not asked for. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Answers whose first token has a time: streams that began. */
  readonly streams: number;
  readonly firstTokenUs: number;
  /** The latest `timestamp`. */
  readonly lastActive: number;
}

/** The query of an endpoint below `/api/analytics`. A series has days by default. Spec: gateway, Analytics query parameters. */
export type AnalyticsQuery = MeasureRange & (SeriesQuery | RowsQuery | BreakdownQuery);
export type MeasureRange = Pick<MeasureQuery, 'from' | 'to' | 'provider' | 'model' | 'tenant'>;

export interface SeriesQuery {
  readonly endpoint: 'usage' | 'cost';
  /** Either of the two asks for a series instead of totals. */
  readonly groupBy?: (typeof SERIES_GROUPS)[number] | undefined;
  readonly bucket?: Bucket | undefined;
}
interface RowsQuery {
  readonly endpoint: 'models' | 'keys' | 'summary';
}
export interface BreakdownQuery {
  readonly endpoint: 'latency' | 'errors';
  readonly groupBy?: (typeof BREAKDOWN_GROUPS)[number] | undefined;
}

/** Sums that a store keeps beside its traces. Faults: `trace_store_unavailable`, `too_many_groups`. */
export interface TraceAnalytics {
  /** The answer of an endpoint: JSON in UTF-8, so that thirty thousand rows need not pass through the caller's thread as objects.
   *  An hour whose traces are gone counts whole when it begins in the range, and not at all when it does not. */
  answer(question: AnalyticsQuery): Promise<Uint8Array>;
}

/** What a store measures. Ordered by bucket, then by group; what has no trace is left out. Faults: as `TraceAnalytics`. */
export interface TraceMeasures {
  measure(question: MeasureQuery): Promise<readonly Measure[]>;
}

/** The route pattern of a provider. */
export function routeOf(provider: string): string {
  return provider === 'openai' || provider === 'anthropic' ? `/${provider}/*` : '/other';
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** The epoch began on a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** When the bucket that holds a moment began. */
export function bucketStartOf(at: number, bucket: Bucket): number {
  if (bucket === 'week') return FIRST_MONDAY_MS + startOf(at - FIRST_MONDAY_MS, 7 * DAY_MS);
  return startOf(at, bucket === 'hour' ? HOUR_MS : DAY_MS);
}

/** Remainders of numbers as large as these take ten times as long. */
function startOf(at: number, unit: number): number {
  return Math.floor(at / unit) * unit;
}
