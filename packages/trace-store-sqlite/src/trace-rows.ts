import type { SQLInputValue } from 'node:sqlite';
import { checkpointOf as storedCheckpoint, traceDetailOf, type StoredLineage } from '@vitrine/traces/stored-trace';
import { createdAtOf } from '@vitrine/traces/trace-id';
import type { Checkpoint, TraceDetail, TraceSummary } from '@vitrine/traces/trace';
import { COST_STATUSES, OUTCOMES, USAGE_STATUSES } from '@vitrine/traces/trace-values';
import { roundUsd } from '@vitrine/traces/usd';
import { wholeMs } from '@vitrine/traces/whole-ms';
import type { Payload } from './payload-page.ts';
import type { ReadDictionary } from './read-dictionary.ts';

/** A row of `traces`. */
export type TraceRow = Readonly<Record<string, SQLInputValue | undefined>>;

export function summaryOf(row: TraceRow, dictionary: ReadDictionary): TraceSummary {
  const id = row['id'] as Uint8Array;
  const { provider, name } = dictionary.model(Number(row['model']));
  const { method, path } = dictionary.target(row['target']);
  const hash = dictionary.credential(Number(row['credential']));
  const firstTokenUs = Number(row['time_to_first_token_us']);
  return {
    id: Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex'),
    timestamp: new Date(Number(row['timestamp'])).toISOString(),
    created_at: new Date(createdAtOf(id)).toISOString(),
    provider: provider as TraceSummary['provider'],
    model: name,
    request_method: method,
    request_path: path,
    response_status: Number(row['response_status']),
    outcome: OUTCOMES[Number(row['outcome'])] ?? 'completed',
    input_tokens: Number(row['input_tokens']),
    output_tokens: Number(row['output_tokens']),
    total_tokens: Number(row['total_tokens']),
    usage_status: USAGE_STATUSES[Number(row['usage_status'])] ?? 'missing',
    latency_ms: Number(row['latency_ms']),
    time_to_first_token_ms: wholeMs(firstTokenUs),
    time_to_first_token_us: firstTokenUs,
    ...(hash === '' ? {} : { api_key_hash: hash }),
    // Until schema 4 it was a double with noise.
    estimated_cost_usd: roundUsd(Number(row['estimated_cost_usd'])),
    cost_status: COST_STATUSES[Number(row['cost_status'])] ?? 'unpriced',
  };
}

export function checkpointOf(row: TraceRow, dictionary: ReadDictionary): Checkpoint {
  return storedCheckpoint(summaryOf(row, dictionary), storedLineage(row));
}

export function detailOf(row: TraceRow, dictionary: ReadDictionary, payload: Payload): TraceDetail {
  const scope = dictionary.scope(Number(row['scope']));
  return traceDetailOf(summaryOf(row, dictionary), storedLineage(row), scope, payload);
}

function storedLineage(row: TraceRow): StoredLineage {
  const isFallback = row['group_fallback'];
  return { ...(row as StoredLineage), group_fallback: typeof isFallback === 'number' ? isFallback === 1 : null };
}
