import { DAY_MS, type AnalyticsQuery } from '@vitrine/traces/trace-analytics';
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
  ['min_tokens, 0.2 % both', { min_tokens: NEEDLE_TOKENS }],
  ['min_tokens, 0.1 % clustered', { min_tokens: NEEDLE_TOKENS + 100_000 }],
];

export const RARE_FILTERS: readonly (readonly [name: string, filter: ListFilter])[] = [
  ['model and status, both 0.1 %', { model: needleModel('spread'), status: NEEDLE_STATUS.spread }],
  ['hash, 0.1 %, and max_tokens', { api_key_hash: hashOf('key spread'), max_tokens: 60 }],
  ['tenant and status 503', { tenant: tenantOf(7), status: 503 }],
  ['what no trace has', { min_tokens: 10_000_000 }],
];

/** Ranges of time, anywhere in what was loaded: `share` (0 to 1) is the position. */
export const RANGES: readonly (readonly [name: string, range: (from: number, days: number, share: number) => Range])[] = [
  ['all time', () => ({})],
  ['7 days', (from, days, share) => rangeAt(from, days, share, 7 * DAY_MS)],
  ['1 day', (from, days, share) => rangeAt(from, days, share, DAY_MS)],
];
export type Range = Pick<AnalyticsQuery, 'from' | 'to'>;

function rangeAt(from: number, days: number, share: number, length: number): Range {
  const start = Math.floor(from + share * Math.max(0, days * DAY_MS - length));
  return { from: start, to: start + length };
}

/** The queries of the endpoints, beside the range and the tenant. */
export const ENDPOINTS: readonly (readonly [name: string, query: AnalyticsQuery])[] = [
  ['usage', { endpoint: 'usage' }],
  ['usage by model and hour', { endpoint: 'usage', groupBy: 'model', bucket: 'hour' }],
  ['usage by provider and day', { endpoint: 'usage', groupBy: 'provider', bucket: 'day' }],
  ['cost', { endpoint: 'cost' }],
  ['cost by model and hour', { endpoint: 'cost', groupBy: 'model', bucket: 'hour' }],
  ['cost by model and week', { endpoint: 'cost', groupBy: 'model', bucket: 'week' }],
  ['cost of a model by hour', { endpoint: 'cost', model: COMMON_MODEL, bucket: 'hour' }],
  ['models', { endpoint: 'models' }],
  ['keys', { endpoint: 'keys' }],
  ['keys of a model', { endpoint: 'keys', model: COMMON_MODEL }],
  ['latency', { endpoint: 'latency' }],
  ['latency by model', { endpoint: 'latency', groupBy: 'model' }],
  ['latency by route', { endpoint: 'latency', groupBy: 'route' }],
  ['latency by key', { endpoint: 'latency', groupBy: 'key' }],
  ['errors by provider', { endpoint: 'errors', groupBy: 'provider' }],
  ['errors by key', { endpoint: 'errors', groupBy: 'key' }],
  ['summary', { endpoint: 'summary' }],
];

export const LARGE_SERIES = ENDPOINTS.filter(([name]) => name.endsWith('by model and hour'));

/** The query as a client's request path. */
export function pathOf(query: AnalyticsQuery): string {
  const { endpoint, from, to, provider, model } = query;
  const { groupBy, bucket } = { groupBy: undefined, bucket: undefined, ...query };
  const parameters = new URLSearchParams();
  const given = { from: momentText(from), to: momentText(to), provider, model, group_by: groupBy, bucket };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) parameters.set(name, value);
  return `/api/analytics/${endpoint}?${parameters.toString()}`;
}

function momentText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
