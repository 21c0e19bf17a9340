import type { QuotaTotals } from './day-usage.ts';
import type { Tenant } from './exchange-scope.ts';
import type { Retention } from './retention.ts';
import type { ColumnName } from './trace-fields.ts';
import type { TraceMeasures } from './trace-measures.ts';
import type { Checkpoint, CostStatus, TraceDetail, TracePage, UsageStatus } from './trace.ts';

/** What a list is filtered by. Times are milliseconds since the epoch, both ends inclusive on `timestamp`; strings match exactly. The admin API has
 *  a parameter for each: without one it does not compile. */
export interface TraceFilters {
  readonly trace_group_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly api_key_hash?: string | undefined;
  readonly status?: number | undefined;
  readonly usage_status?: UsageStatus | undefined;
  readonly cost_status?: CostStatus | undefined;
  readonly min_tokens?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** What each filter compares with. `filter-indexes.test.ts` of both stores require an index that ends with the id, or a reason to have none:
 *  without one, a filter that few traces match reads until a page is full, or everything. */
export const FILTER_COLUMNS: {
  readonly [Name in keyof Required<TraceFilters>]: { readonly column: ColumnName; readonly operator: '=' | '>=' | '<=' };
} = {
  trace_group_id: { column: 'trace_group_id', operator: '=' },
  thread_id: { column: 'thread_id', operator: '=' },
  run_id: { column: 'run_id', operator: '=' },
  provider: { column: 'provider', operator: '=' },
  model: { column: 'model', operator: '=' },
  api_key_hash: { column: 'api_key_hash', operator: '=' },
  status: { column: 'response_status', operator: '=' },
  usage_status: { column: 'usage_status', operator: '=' },
  cost_status: { column: 'cost_status', operator: '=' },
  min_tokens: { column: 'total_tokens', operator: '>=' },
  max_tokens: { column: 'total_tokens', operator: '<=' },
  from: { column: 'timestamp', operator: '>=' },
  to: { column: 'timestamp', operator: '<=' },
};

/** Which traces to list. */
export interface TraceQuery extends TraceFilters {
  /** The tenant of the traces; undefined: all tenants. */
  readonly tenant?: Tenant | undefined;
  /** 1 to 200. */
  readonly limit: number;
  /** Only traces older than this one: the id in `next_cursor`. */
  readonly after?: Uint8Array | undefined;
}

/** Which checkpoints of conversations to read. Given fields must match exactly. */
export type CheckpointQuery = Pick<TraceQuery, 'trace_group_id' | 'thread_id' | 'run_id' | 'tenant' | 'after'> & {
  /** 1 to 501. */
  readonly limit: number;
};

/** A trace, and the maximum number of ancestors to read, including itself. */
export interface AncestorQuery {
  readonly id: string;
  readonly tenant?: Tenant | undefined;
  /** 1 to 501. */
  readonly limit: number;
}

/** Reading side of a trace store. Faults: `trace_store_unavailable`. */
export interface TraceStore {
  list(query: TraceQuery): Promise<TracePage>;
  /** Undefined also when it is another tenant's. */
  get(id: string, tenant?: Tenant): Promise<TraceDetail | undefined>;
  /** The newest first. */
  checkpoints(query: CheckpointQuery): Promise<Checkpoint[]>;
  /** The trace itself, its parent, and so on, as far as they exist in the tenant. In a cycle of parents each is included once. */
  ancestors(query: AncestorQuery): Promise<Checkpoint[]>;
  /** Faults: `trace_store_unavailable`. */
  summary(): Promise<StoreSummary>;
  /** The cached summary: exact for a store in a file, and otherwise the last result of `summary`. */
  readonly knownSummary: StoreSummary;
}

/** The store of a process that writes traces, which owns it. */
export interface OwnedTraceStore extends TraceStore, TraceMeasures, QuotaTotals, Retention, AsyncDisposable {
  readonly driver: StoreSummary['driver'];
  /** Rejects when traces could not be written now. */
  probe(): Promise<void>;
}

export const STORE_DRIVERS = ['sqlite', 'postgres'] as const;

export interface StoreSummary {
  readonly driver: (typeof STORE_DRIVERS)[number];
  readonly traceCount: number;
  /** Size of the database file, for a store that is one. */
  readonly sizeBytes: number | undefined;
}

/** The opaque text of a page's end. */
export function cursorOf(id: Uint8Array): string {
  return Buffer.from(id).toString('base64url');
}

/** The id inside a cursor; undefined for text not created by `cursorOf`. */
export function readCursor(cursor: string): Uint8Array | undefined {
  const id = Buffer.from(cursor, 'base64url');
  return id.length === 16 && id.toString('base64url') === cursor ? id : undefined;
}
