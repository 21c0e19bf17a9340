import { Fault } from '@vitrine/faults/fault';
import type { Tenant } from './exchange-scope.ts';
import type { Bucket } from './time-buckets.ts';
import type { UsdParts } from './usd.ts';

/** Dimensions for grouping traces. `route` is derived from the provider, `key` is the gateway key. */
export const GROUPS = ['provider', 'model', 'route', 'key', 'api_key_hash'] as const;
export type Group = (typeof GROUPS)[number];
/** Dimensions for usage and cost, and for latency and errors. */
export const SERIES_GROUPS = ['provider', 'model', 'key'] as const satisfies readonly Group[];
export const BREAKDOWN_GROUPS = ['provider', 'model', 'route', 'key'] as const satisfies readonly Group[];
export type SeriesGroup = (typeof SERIES_GROUPS)[number];
export type BreakdownGroup = (typeof BREAKDOWN_GROUPS)[number];

/** Measures other than the number of requests; `percentiles` come with `latency`, `unknown` are counts of requests whose cost or usage is. */
export const MEASURE_PARTS = [
  'tokens',
  'cost',
  'unknown',
  'rejected',
  'errors',
  'latency',
  'percentiles',
  'firstToken',
  'lastActive',
] as const;
export type MeasurePart = (typeof MEASURE_PARTS)[number];

/** Maximum rows of a result. A query that selects more is rejected. */
export const MEASURES_MAX = 100_000;

/** Columns of traces and of their sums for filtering measures. */
export const MEASURE_FILTERS = ['provider', 'model'] as const;
export type MeasureFilters = { readonly [Column in (typeof MEASURE_FILTERS)[number]]?: string | undefined };

/** Which traces to measure, and how to divide them. Times are milliseconds since the epoch, both ends inclusive on `timestamp`;
 *  texts match exactly. Spec: G7.1, G7.2, G7.4. */
export interface MeasureQuery extends MeasureFilters {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** The tenant of the traces; undefined: all tenants. */
  readonly tenant?: Tenant | undefined;
  readonly groupBy?: Group | undefined;
  readonly bucket?: Bucket | undefined;
  /** Required measures other than `requests`, all by default. A store may leave the rest at 0. Each costs time: 26,000 rows of a week by key took
   *  49 ms with all sums, 30 ms with those that a response by key has. */
  readonly parts?: readonly MeasurePart[] | undefined;
}

/** Sums over the traces of one group in one bucket. */
export interface Measure {
  /** Milliseconds since the epoch; 0 without a bucket in the query. Buckets are UTC, weeks begin on Monday. */
  readonly bucketStart: number;
  /** '' without a group in the query, and for traces without a value, such as no credential or gateway key. */
  readonly group: string;
  readonly requests: number;
  /** By the gateway. */
  readonly rejected: number;
  /** No model had a price. */
  readonly unpriced: number;
  /** The cost is only in part known to be due. */
  readonly estimated: number;
  /** Charged, but without usage, and without an estimate of it. */
  readonly missingUsage: number;
  readonly errors4xx: number;
  readonly errors5xx: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Exact to the trillionth. */
  readonly cost: UsdParts;
  /** Upper bounds, likewise. */
  readonly upper: UsdParts;
  readonly latencyMs: number;
  readonly latencyMsMin: number;
  readonly latencyMsMax: number;
  /** Nearest rank, accurate to 1 %. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Responses with a time to first token: streams that began. */
  readonly streams: number;
  readonly firstTokenUs: number;
  /** The latest `timestamp`. */
  readonly lastActive: number;
}

/** Sums that a store keeps beside its traces. Faults: `trace_store_unavailable`, `too_many_groups` (beyond `MEASURES_MAX`). */
export interface TraceMeasures {
  /** One row for each bucket and group with traces, ordered by bucket, then by group. An hour whose traces were removed counts completely if it
   *  begins in the range, and otherwise not at all. */
  measure(query: MeasureQuery): Promise<Measure[]>;
}

export function tooManyGroups(): Fault {
  return new Fault('too_many_groups', { say: 'the response has too many rows: narrow from, to, provider or model' });
}

export function needsPercentiles({ parts = MEASURE_PARTS }: MeasureQuery): boolean {
  return parts.includes('percentiles');
}

/** The route pattern of a provider. */
export function routeOf(provider: string): string {
  return provider === 'openai' || provider === 'anthropic' ? `/${provider}/*` : '/other';
}
