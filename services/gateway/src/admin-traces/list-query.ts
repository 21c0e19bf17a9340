import { Fault } from '@vitrine/faults/fault';
import { readCursor, type TraceQuery } from '@vitrine/traces/trace-store';
import { readInteger, readText, readTimeRange, type QueryValues } from '../http/query-values.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_TOKENS = 10_000_000;

/** Reads the parameters of `GET /api/traces`. Faults: `invalid_query`, naming the parameter.
 *  Spec: gateway, GET /api/traces query parameters. */
export function readListQuery(values: QueryValues): TraceQuery {
  const minTokens = readInteger(values, 'min_tokens', 0, MAX_TOKENS);
  const maxTokens = readInteger(values, 'max_tokens', 0, MAX_TOKENS);
  if (minTokens !== undefined && maxTokens !== undefined && maxTokens < minTokens) {
    throw new Fault('invalid_query', { say: 'max_tokens must be greater than or equal to min_tokens' });
  }
  const limit = readInteger(values, 'limit', 0, MAX_LIMIT) ?? 0;
  return {
    trace_group_id: readText(values, 'trace_group_id'),
    thread_id: readText(values, 'thread_id'),
    run_id: readText(values, 'run_id'),
    provider: readText(values, 'provider'),
    model: readText(values, 'model'),
    api_key_hash: readText(values, 'api_key_hash'),
    status: readInteger(values, 'status', 100, 599),
    min_tokens: minTokens,
    max_tokens: maxTokens,
    ...readTimeRange(values),
    limit: limit === 0 ? DEFAULT_LIMIT : limit,
    after: readAfter(values),
  };
}

function readAfter(values: QueryValues): Uint8Array | undefined {
  const cursor = readText(values, 'cursor');
  if (cursor === undefined) return undefined;
  const id = readCursor(cursor);
  if (id === undefined) throw new Fault('invalid_query', { say: 'invalid cursor' });
  return id;
}
