import { Fault, messageOf } from '@vitrine/faults/fault';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { measuresIn } from '@vitrine/trace-store-sqlite/measure-table';
import { SqliteTraceReader } from '@vitrine/trace-store-sqlite/sqlite-trace-reader';
import type { LineageIds } from '@vitrine/trace-store-sqlite/lineage-entries';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import type { TraceMeasures } from '@vitrine/traces/trace-measures';
import type { TraceStore } from '@vitrine/traces/trace-store';
import { existsSync } from 'node:fs';
import type { GatewayConfig } from '../config.ts';
import { isOldTraceFile, oldTraceFileText } from '../old-gateway/old-trace-file.ts';

/** Read-only access of commands to the configured trace store, which takes no lock: a gateway may be running. */
export interface OfflineTraces extends Pick<TraceStore, 'list' | 'get' | 'checkpoints' | 'ancestors'>, TraceMeasures, Disposable {
  /** The tenants of all traces that are or were stored; both of their fields are '' for unknown callers. */
  tenants(): Promise<Tenant[]>;
  /** The tenants that have traces with all of these ids. */
  tenantsWith(ids: LineageIds): Promise<Tenant[]>;
}

/** Faults: `storage_unusable`, also of every read; `too_many_groups`. */
export function openTraces({ storage: { path } }: Pick<GatewayConfig, 'storage'>): OfflineTraces {
  const attempt = <T>(read: () => T): T => {
    try {
      return read();
    } catch (cause) {
      throw new Fault('storage_unusable', { say: `${path} cannot be read: ${messageOf(cause)}`, cause });
    }
  };
  if (!existsSync(path))
    throw new Fault('storage_unusable', { say: `${path} does not exist: no gateway has written traces to it` });
  if (isOldTraceFile(path)) throw new Fault('storage_unusable', { say: oldTraceFileText(path) });
  const foreign = attempt(() => foreignFile(path, TRACE_FILE));
  if (foreign !== undefined) throw new Fault('storage_unusable', { say: `${path} cannot be read: ${foreign}` });
  const reader = attempt(() => new SqliteTraceReader(path));
  return {
    list: async (query) => attempt(() => reader.list(query)),
    get: async (id) => attempt(() => reader.get(id)),
    checkpoints: async (query) => attempt(() => reader.checkpoints(query)),
    tenants: async () => attempt(() => reader.tenants()),
    tenantsWith: async (ids) => attempt(() => reader.tenantsWith(ids)),
    ancestors: async (query) => attempt(() => reader.ancestors(query)),
    measure: async (query) => {
      const table = attempt(() => reader.measure(query));
      if (table !== undefined) return measuresIn(table);
      throw new Fault('too_many_groups', { say: 'the result has too many rows: narrow --from, --to, --provider or --model' });
    },
    [Symbol.dispose]: () => reader[Symbol.dispose](),
  };
}
