import type { SQLInputValue } from 'node:sqlite';
import { headerValuesOf } from '@vitrine/privacy/header-lines';
import { createdAtOf, TRACE_ID } from '@vitrine/traces/trace-id';
import type { Checkpoint, GroupSource, Lineage, TraceDetail, TraceSummary } from '@vitrine/traces/trace';
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
  const summary = summaryOf(row, dictionary);
  return { ...summary, lineage: lineageOf(row, summary.id), namedGroup: namedGroupOf(row) };
}

export function detailOf(row: TraceRow, dictionary: ReadDictionary, payload: Payload): TraceDetail {
  const summary = summaryOf(row, dictionary);
  const lineage = lineageOf(row, summary.id);
  const { org_id, workspace_id, gateway_key_id, role } = dictionary.scope(Number(row['scope']));
  return {
    ...summary,
    ...textIn(row, 'trace_group_id'),
    lineage,
    request_headers: headerValuesOf(payload.request_headers),
    response_headers: headerValuesOf(payload.response_headers),
    ...(payload.request_body === undefined ? {} : { request_body: payload.request_body }),
    ...(payload.response_body === undefined ? {} : { response_body: payload.response_body }),
    metadata: {
      // What nobody was known for is left out: a refused request has no tenant, and without authentication there is no key.
      ...Object.fromEntries(Object.entries({ org_id, workspace_id, gateway_key_id, role }).filter(([, value]) => value !== '')),
      ...(JSON.parse(payload.metadata) as Record<string, unknown>),
      ...Object.fromEntries(Object.entries(lineage).map(([field, value]) => [`lineage_${field}`, value])),
      ...groupSourceOf(row),
    },
  };
}

/** Where the group is from. Rows from before schema 4 do not say; `namedGroupOf` of `replay.ts` finds out. */
function groupSourceOf({ group_fallback: isFallback }: TraceRow): { lineage_group_source?: GroupSource } {
  if (typeof isFallback !== 'number') return {};
  return { lineage_group_source: isFallback === 1 ? 'traceparent' : 'client' };
}

/** Undefined when the group is only a label. In rows from before schema 4 those that a gateway made with its spans are taken for such,
 *  by their look. */
function namedGroupOf({ trace_group_id: group, group_fallback: isFallback }: TraceRow): string | undefined {
  if (typeof group !== 'string') return undefined;
  return TRACE_ID.test(group) && isFallback !== 0 ? undefined : group;
}

/** A trace is its own checkpoint, and never changes. */
function lineageOf(row: TraceRow, id: string): Lineage {
  return {
    ...textIn(row, 'trace_group_id', 'group_id'),
    ...textIn(row, 'thread_id'),
    ...textIn(row, 'run_id'),
    checkpoint_id: id,
    ...textIn(row, 'parent_checkpoint_id'),
    ...(row['checkpoint_seq'] === null ? {} : { checkpoint_seq: Number(row['checkpoint_seq']) }),
    immutable: true,
  };
}

function textIn(row: TraceRow, field: string, name: string = field): Record<string, string> {
  const value = row[field];
  return typeof value === 'string' ? { [name]: value } : {};
}
