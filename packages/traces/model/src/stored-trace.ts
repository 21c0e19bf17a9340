import { headerValuesOf } from '@vitrine/privacy/header-lines';
import type { ExchangeScope } from './exchange-scope.ts';
import { TRACE_ID } from './trace-id.ts';
import type { Checkpoint, GroupSource, Lineage, TraceDetail, TracePage, TraceSummary } from './trace.ts';
import type { TraceField, TraceRecord } from './trace-record.ts';
import { cursorOf } from './trace-store.ts';
import { wholeMs } from './whole-ms.ts';

type SummaryField = Exclude<TraceField, keyof TraceRecord['scope'] | keyof TraceRecord['lineage']>;
type Nullable<T> = undefined extends T ? Exclude<T, undefined> | null : T;

/** The columns of a trace that lists show. Times are milliseconds since the epoch. A field of records that no summary has does not
 *  compile. */
export type StoredSummary = {
  readonly [Field in SummaryField]: Field extends 'timestamp' | 'created_at' ? number : Nullable<TraceSummary[Field]>;
};

type Stored<T> = { readonly [Field in keyof T]?: T[Field] | null | undefined };

/** Lineage columns of a row. `group_fallback` is null without a group or if the row does not record it. */
export type StoredLineage = Stored<TraceRecord['lineage']>;
/** Columns that lists omit. */
export type StoredPayload = Pick<TraceRecord, 'request_headers' | 'response_headers' | 'metadata'> &
  Stored<Pick<TraceRecord, 'request_body' | 'response_body'>>;

export function summaryOf(stored: StoredSummary): TraceSummary {
  const { time_to_first_token_us: firstTokenUs, api_key_hash } = stored;
  return {
    id: stored.id,
    timestamp: new Date(stored.timestamp).toISOString(),
    created_at: new Date(stored.created_at).toISOString(),
    provider: stored.provider,
    model: stored.model,
    request_method: stored.request_method,
    request_path: stored.request_path,
    response_status: stored.response_status,
    outcome: stored.outcome,
    input_tokens: stored.input_tokens,
    output_tokens: stored.output_tokens,
    total_tokens: stored.total_tokens,
    usage_status: stored.usage_status,
    latency_ms: stored.latency_ms,
    time_to_first_token_ms: wholeMs(firstTokenUs),
    time_to_first_token_us: firstTokenUs,
    ...known({ api_key_hash }),
    estimated_cost_usd: stored.estimated_cost_usd,
    cost_status: stored.cost_status,
  };
}

/** A page of rows, read with `limit` + 1 to detect further ones. */
export function pageOf(items: readonly TraceSummary[], limit: number): TracePage {
  const page = items.slice(0, limit);
  const last = page.at(-1);
  const more = items.length > limit && last !== undefined;
  return { items: page, ...(more ? { next_cursor: cursorOf(Buffer.from(last.id, 'hex')) } : {}) };
}

export function checkpointOf(summary: TraceSummary, stored: StoredLineage): Checkpoint {
  return { ...summary, lineage: lineageOf(summary.id, stored), namedGroup: namedGroupOf(stored) };
}

export function traceDetailOf(
  summary: TraceSummary,
  stored: StoredLineage,
  scope: ExchangeScope,
  payload: StoredPayload,
): TraceDetail {
  const lineage = lineageOf(summary.id, stored);
  const { org_id, workspace_id, gateway_key_id, role } = scope;
  const { trace_group_id } = stored;
  const { request_body, response_body } = payload;
  return {
    ...summary,
    ...known({ trace_group_id }),
    lineage,
    request_headers: headerValuesOf(payload.request_headers),
    response_headers: headerValuesOf(payload.response_headers),
    ...known({ request_body, response_body }),
    metadata: {
      // Unknown scope fields are omitted: a rejected request has no tenant, and without authentication there is no key.
      ...Object.fromEntries(Object.entries({ org_id, workspace_id, gateway_key_id, role }).filter(([, value]) => value !== '')),
      ...(JSON.parse(payload.metadata) as Record<string, unknown>),
      ...Object.fromEntries(Object.entries(lineage).map(([field, value]) => [`lineage_${field}`, value])),
      ...groupSourceOf(stored),
    },
  };
}

/** The source of the group. Old rows do not record it, so `namedGroupOf` decides by the form of the group. */
function groupSourceOf({ group_fallback: isFallback }: StoredLineage): { lineage_group_source?: GroupSource } {
  if (typeof isFallback !== 'boolean') return {};
  return { lineage_group_source: isFallback ? 'traceparent' : 'client' };
}

/** Undefined when the group is only a label. If the row does not record it, a group that looks like a trace id is a label. */
function namedGroupOf({ trace_group_id: group, group_fallback: isFallback }: StoredLineage): string | undefined {
  if (typeof group !== 'string') return undefined;
  return TRACE_ID.test(group) && isFallback !== false ? undefined : group;
}

/** A trace is its own checkpoint and never changes. */
function lineageOf(id: string, stored: StoredLineage): Lineage {
  const { trace_group_id: group_id, thread_id, run_id, parent_checkpoint_id, checkpoint_seq } = stored;
  return {
    ...known({ group_id, thread_id, run_id }),
    checkpoint_id: id,
    ...known({ parent_checkpoint_id, checkpoint_seq }),
    immutable: true,
  };
}

type Known<T> = { [Field in keyof T]?: Exclude<T[Field], null | undefined> };

function known<T extends object>(fields: T): Known<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as Known<T>;
}
