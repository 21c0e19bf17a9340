import type { MeasureQuestion } from '@vitrine/traces/trace-analytics';
import type { TraceQuery } from '@vitrine/traces/trace-store';
import { hash } from 'node:crypto';
import { COMMON_MODEL, credentialOf, needleModel, NEEDLE_STATUS, NEEDLE_TOKENS, tenantOf } from './traffic.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export type ListFilter = Omit<TraceQuery, 'limit' | 'after' | 'from' | 'to'>;

const hashOf = (key: number | string) => hash('sha256', credentialOf(key));

/** One filter each, and some that are rarer than the target asks for (`beyond`). */
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

/** Ranges of time, anywhere in what was loaded: `share` (0 to 1) tells where. */
export const RANGES: readonly (readonly [name: string, range: (from: number, days: number, share: number) => Range])[] = [
  ['all time', () => ({})],
  ['7 days', (from, days, share) => rangeAt(from, days, share, 7 * DAY_MS)],
  ['1 day', (from, days, share) => rangeAt(from, days, share, DAY_MS)],
];
export type Range = Pick<MeasureQuestion, 'from' | 'to'>;

function rangeAt(from: number, days: number, share: number, length: number): Range {
  const start = Math.floor(from + share * Math.max(0, days * DAY_MS - length));
  return { from: start, to: start + length };
}

/** What the endpoints ask; the summary asks for two things. */
export const ENDPOINTS: readonly (readonly [name: string, questions: readonly MeasureQuestion[]])[] = [
  ['usage', [{}]],
  ['usage by model and hour', [{ groupBy: 'model', bucket: 'hour' }]],
  ['usage by provider and day', [{ groupBy: 'provider', bucket: 'day' }]],
  ['cost', [{}]],
  ['cost by model and week', [{ groupBy: 'model', bucket: 'week' }]],
  ['cost of a model by hour', [{ model: COMMON_MODEL, bucket: 'hour' }]],
  ['models', [{ groupBy: 'model' }]],
  ['keys', [{ groupBy: 'api_key_hash' }]],
  ['keys of a model', [{ groupBy: 'api_key_hash', model: COMMON_MODEL }]],
  ['latency', [{ percentiles: true }]],
  ['latency by model', [{ groupBy: 'model', percentiles: true }]],
  ['latency by route', [{ groupBy: 'route', percentiles: true }]],
  ['latency by key', [{ groupBy: 'key', percentiles: true }]],
  ['errors by provider', [{ groupBy: 'provider' }]],
  ['errors by key', [{ groupBy: 'key' }]],
  ['summary', [{ groupBy: 'model' }, { groupBy: 'api_key_hash' }]],
];
