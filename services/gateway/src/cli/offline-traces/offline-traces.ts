import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { TraceMeasures } from '@vitrine/traces/trace-measures';
import type { TraceQuery, TraceStore } from '@vitrine/traces/trace-store';

/** Ids of conversations; what is given must match exactly. */
export type LineageIds = Pick<TraceQuery, 'trace_group_id' | 'thread_id' | 'run_id'>;

/** Read-only access of commands to the configured trace store, which takes no lock: a gateway may be running. */
export interface OfflineTraces
  extends Pick<TraceStore, 'list' | 'get' | 'checkpoints' | 'ancestors'>, TraceMeasures, AsyncDisposable {
  /** The tenants of all traces that are or were stored; both of their fields are '' for unknown callers. */
  tenants(): Promise<Tenant[]>;
  /** The tenants that have traces with all of these ids. */
  tenantsWith(ids: LineageIds): Promise<Tenant[]>;
}
