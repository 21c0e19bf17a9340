import { headerValuesOf } from '@vitrine/privacy/header-lines';
import type { ExchangeScope } from './exchange-scope.ts';
import { TRACE_ID } from './trace-id.ts';
import type { Checkpoint, GroupSource, Lineage, TraceDetail, TracePage, TraceSummary } from './trace.ts';
import { SUMMARY_FIELDS, type RECORDED_FIELDS, type TraceField } from './trace-fields.ts';
import type { TraceRecord } from './trace-record.ts';
import { cursorOf } from './trace-store.ts';
import { wholeMs } from './whole-ms.ts';

type Fields = typeof RECORDED_FIELDS;
type Nullable<T> = undefined extends T ? Exclude<T, undefined> | null : T;

/** The columns of a trace that lists show. Times are milliseconds since the epoch. */
export type StoredSummary = {
  readonly [Name in keyof Fields]: Fields[Name]['kind'] extends 'time' ? number : Nullable<TraceSummary[Name]>;
};

type Stored<T> = { readonly [Field in keyof T]?: T[Field] | null | undefined };

/** Lineage columns of a row. `group_fallback` is null without a group or if the row does not record it. */
export type StoredLineage = Stored<TraceRecord['lineage']>;
/** Columns that lists omit. */
export type StoredPayload = Pick<TraceRecord, 'request_headers' | 'response_headers' | 'metadata'> &
  Stored<Pick<TraceRecord, 'request_body' | 'response_body'>>;

export function summaryOf(stored: StoredSummary): TraceSummary {
  const values = {
    ...stored,
    // Absent in rows of earlier versions. Spec: G4.29.
    cost_upper_usd: stored.cost_upper_usd ?? stored.estimated_cost_usd,
    time_to_first_token_ms: wholeMs(stored.time_to_first_token_us),
  };
  const shown = Object.entries<TraceField>(SUMMARY_FIELDS).map(([name, { kind }]) => {
    const value = values[name as keyof TraceSummary];
    return [name, kind === 'time' && typeof value === 'number' ? new Date(value).toISOString() : value];
  });
  return known(Object.fromEntries(shown)) as TraceSummary;
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
