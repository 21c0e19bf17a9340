import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { BreakdownQuery, SeriesQuery, TraceAnalytics } from '@vitrine/traces/trace-analytics';
import type { TraceQuery } from '@vitrine/traces/trace-store';
import { hash } from 'node:crypto';
import { COMMON_MODEL, credentialOf, needleModel, NEEDLE_STATUS, NEEDLE_TOKENS, tenantOf } from './traffic.ts';

export type ListFilter = Omit<TraceQuery, 'limit' | 'after' | 'from' | 'to'>;

const hashOf = (key: number | string) => hash('sha256', credentialOf(key));

/** One filter each, and some that are rarer than the target requires (`beyond`). */
export const LIST_FILTERS: readonly (readonly [name: string, filter: ListFilter])[] = [
  ['no filter', {}],
  ['provider', { provider: 'anthropic' }],
  ['model, common', { model: COMMON_MODEL }],
  ['model, 0.1 % spread', { model: needleModel('spread') }],
  ['model, 0.1 % clustered', { model: needleModel('clustered') }],
  ['api_key_hash, 0.1 % spread', { api_key_hash: hashOf('key spread') }],
  ['api_key_hash, 0.1 % clustered', { api_key_hash: hashOf('key clustered') }],
  ['tenant', { tenant: tenantOf(7) }],
  ['status 200', { status: 200 }],
  ['status, 0.1 % spread', { status: NEEDLE_STATUS.spread }],
  ['status, 0.1 % clustered', { status: NEEDLE_STATUS.clustered }],
  ['cost_status estimated', { cost_status: 'estimated' }],
  ['usage_status undecodable', { usage_status: 'undecodable' }],
  ['min_tokens, 0.2 % both', { min_tokens: NEEDLE_TOKENS }],
  ['min_tokens, 0.1 % clustered', { min_tokens: NEEDLE_TOKENS + 100_000 }],
];

export const RARE_FILTERS: readonly (readonly [name: string, filter: ListFilter])[] = [
  ['model and status, both 0.1 %', { model: needleModel('spread'), status: NEEDLE_STATUS.spread }],
  ['hash, 0.1 %, and max_tokens', { api_key_hash: hashOf('key spread'), max_tokens: 60 }],
  ['tenant and status 503', { tenant: tenantOf(7), status: 503 }],
  ['what no trace has', { min_tokens: 10_000_000 }],
];

/** Warm-up queries, which are not measured. */
export const WARM_UPS = 10;

/** A pseudo-random share, the same at every run. */
export function shareOf(i: number): number {
  return (i * 0.618_034) % 1;
}

/** Ranges of time within the loaded traces; `share` (0 to 1) is the position. */
export const RANGES: readonly (readonly [name: string, range: (from: number, days: number, share: number) => Range])[] = [
  ['all time', () => ({})],
  ['7 days', (from, days, share) => rangeAt(from, days, share, 7 * DAY_MS)],
  ['1 day', (from, days, share) => rangeAt(from, days, share, DAY_MS)],
];
export type Range = Pick<SeriesQuery, 'from' | 'to'>;

function rangeAt(from: number, days: number, share: number, length: number): Range {
  const start = Math.floor(from + share * Math.max(0, days * DAY_MS - length));
  return { from: start, to: start + length };
}

/** A query of an endpoint with its own groups. */
export type EndpointQuery = Omit<SeriesQuery, 'group_by'> & {
  readonly endpoint: 'usage' | 'cost' | 'models' | 'keys' | 'summary' | 'latency' | 'errors';
  readonly group_by?: BreakdownQuery['group_by'];
};

/** The queries of the endpoints, without the range and the tenant. */
export const ENDPOINTS: readonly (readonly [name: string, query: EndpointQuery])[] = [
  ['usage', { endpoint: 'usage' }],
  ['usage by model and hour', { endpoint: 'usage', group_by: 'model', bucket: 'hour' }],
  ['usage by provider and day', { endpoint: 'usage', group_by: 'provider', bucket: 'day' }],
  ['cost', { endpoint: 'cost' }],
  ['cost by model and hour', { endpoint: 'cost', group_by: 'model', bucket: 'hour' }],
  ['cost by model and week', { endpoint: 'cost', group_by: 'model', bucket: 'week' }],
  ['cost by key and day', { endpoint: 'cost', group_by: 'key', bucket: 'day' }],
  ['cost of a model by hour', { endpoint: 'cost', model: COMMON_MODEL, bucket: 'hour' }],
  ['models', { endpoint: 'models' }],
  ['keys', { endpoint: 'keys' }],
  ['keys of a model', { endpoint: 'keys', model: COMMON_MODEL }],
  ['latency', { endpoint: 'latency' }],
  ['latency by model', { endpoint: 'latency', group_by: 'model' }],
  ['latency by route', { endpoint: 'latency', group_by: 'route' }],
  ['latency by key', { endpoint: 'latency', group_by: 'key' }],
  ['latency by model and hour', { endpoint: 'latency', group_by: 'model', bucket: 'hour' }],
  ['latency by key and day', { endpoint: 'latency', group_by: 'key', bucket: 'day' }],
  ['errors by provider', { endpoint: 'errors', group_by: 'provider' }],
  ['errors by model and hour', { endpoint: 'errors', group_by: 'model', bucket: 'hour' }],
  ['errors by key', { endpoint: 'errors', group_by: 'key' }],
  ['summary', { endpoint: 'summary' }],
];

/** Runs the query without HTTP. */
export function runQuery(analytics: TraceAnalytics, { endpoint, ...query }: EndpointQuery): Promise<object> {
  const run: (query: object) => Promise<object> = analytics[endpoint];
  return run.call(analytics, query);
}

/** The query as a client's request path. */
export function pathOf({ endpoint, from, to, ...rest }: EndpointQuery): string {
  const parameters = new URLSearchParams();
  const { provider, model, group_by, bucket } = rest;
  const given = { from: momentText(from), to: momentText(to), provider, model, group_by, bucket };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) parameters.set(name, value);
  return `/api/analytics/${endpoint}?${parameters.toString()}`;
}

function momentText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
