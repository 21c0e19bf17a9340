import { Fault, messageOf } from '@vitrine/faults/fault';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { measuresIn } from '@vitrine/trace-store-sqlite/measure-table';
import { SqliteTraceReader } from '@vitrine/trace-store-sqlite/sqlite-trace-reader';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { existsSync } from 'node:fs';
import { isOldTraceFile, oldTraceFileText } from '@vitrine/ongoingai-import/old-trace-file';
import type { OfflineTraces } from './offline-traces.ts';

/** Faults: `storage_unusable`, also of every read; `too_many_groups`. */
export function openFileTraces(path: string): OfflineTraces {
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
    [Symbol.asyncDispose]: async () => reader[Symbol.dispose](),
  };
}
