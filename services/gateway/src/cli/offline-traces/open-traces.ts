import { Fault, messageOf } from '@vitrine/faults/fault';
import { isOldTraceFile, oldTraceFileText } from '@vitrine/ongoingai-import/old-trace-file';
import { addressText } from '@vitrine/postgres/dsn';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { ALL_TENANTS } from '@vitrine/trace-store-postgres/conditions';
import { openPostgresTraceStore } from '@vitrine/trace-store-postgres/postgres-trace-store';
import { measuresIn } from '@vitrine/trace-store-sqlite/measure-table';
import { SqliteTraceReader } from '@vitrine/trace-store-sqlite/sqlite-trace-reader';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { TraceMeasures } from '@vitrine/traces/trace-measures';
import type { TraceQuery, TraceStore } from '@vitrine/traces/trace-store';
import { existsSync } from 'node:fs';
import { postgresOptions, type StorageSettings } from '../../storage/storage-settings.ts';

const LINEAGE_COLUMNS = ['trace_group_id', 'thread_id', 'run_id'] as const;
const CONNECTIONS = 2;

/** Read-only access of commands to the configured trace store, which takes no lock: a gateway may be running. */
export interface OfflineTraces
  extends Pick<TraceStore, 'list' | 'get' | 'checkpoints' | 'ancestors'>, TraceMeasures, AsyncDisposable {
  /** The tenants of all traces that are or were stored. Both fields are '' for unknown callers. */
  tenants(): Promise<Tenant[]>;
  /** The tenants that have traces with all of these ids, which must match exactly. */
  tenantsWith(ids: Pick<TraceQuery, (typeof LINEAGE_COLUMNS)[number]>): Promise<Tenant[]>;
}

/** The traces of the configured store, for commands. Faults: `storage_unusable`, also of every read; `too_many_groups`. */
export async function openTraces({ storage }: { readonly storage: StorageSettings }): Promise<OfflineTraces> {
  const options = postgresOptions(storage, 'commands');
  return options === undefined ? await openFileTraces(storage.path) : openPostgresTraces(options);
}

/** Makes reads of a place fail with `storage_unusable`. */
function readsOf(place: string) {
  return async <T>(read: () => T | Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (cause) {
      const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
      throw new Fault('storage_unusable', { say: `${place} cannot be read: ${messageOf(reason)}`, cause });
    }
  };
}

async function openFileTraces(path: string): Promise<OfflineTraces> {
  const attempt = readsOf(path);
  if (!existsSync(path))
    throw new Fault('storage_unusable', { say: `${path} does not exist: no gateway has written traces to it` });
  if (isOldTraceFile(path)) throw new Fault('storage_unusable', { say: oldTraceFileText(path) });
  const foreign = await attempt(() => foreignFile(path, TRACE_FILE));
  if (foreign !== undefined) throw new Fault('storage_unusable', { say: `${path} cannot be read: ${foreign}` });
  const reader = await attempt(() => new SqliteTraceReader(path));
  return {
    list: (query) => attempt(() => reader.list(query)),
    get: (id) => attempt(() => reader.get(id)),
    checkpoints: (query) => attempt(() => reader.checkpoints(query)),
    tenants: () => attempt(() => reader.tenants()),
    tenantsWith: (ids) => attempt(() => reader.tenantsWith(ids)),
    ancestors: (query) => attempt(() => reader.ancestors(query)),
    measure: async (query) => {
      const table = await attempt(() => reader.measure(query));
      if (table !== undefined) return measuresIn(table);
      throw new Fault('too_many_groups', { say: 'the result has too many rows: narrow --from, --to, --provider or --model' });
    },
    [Symbol.asyncDispose]: async () => reader[Symbol.dispose](),
  };
}

/** The traces of a database that gateways may be using. */
export function openPostgresTraces(options: PostgresPoolOptions): OfflineTraces {
  const bounded = { ...options, maxConnections: CONNECTIONS };
  const pool = new PostgresPool(bounded);
  const store = openPostgresTraceStore(bounded);
  const attempt = readsOf(addressText(pool.address));
  const tenants = (from: string, values: readonly unknown[] = []) =>
    attempt(() => pool.query<Tenant>(`SELECT DISTINCT org_id, workspace_id FROM ${from} ORDER BY 1, 2`, values));
  return {
    list: (query) => attempt(() => store.list(query)),
    get: (id) => attempt(() => store.get(id)),
    checkpoints: (query) => attempt(() => store.checkpoints(query)),
    ancestors: (query) => attempt(() => store.ancestors(query)),
    measure: (query) => store.measure(query),
    tenants: () => tenants('trace_sums_by_model_day WHERE org_id <> $1', [ALL_TENANTS.org_id]),
    tenantsWith: (ids) => {
      const given = LINEAGE_COLUMNS.filter((column) => ids[column] !== undefined);
      const conditions = given.map((column, at) => `${column} = $${at + 1}`);
      return tenants(
        `traces WHERE ${conditions.join(' AND ') || 'true'}`,
        given.map((column) => ids[column]),
      );
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await pool[Symbol.asyncDispose]();
    },
  };
}
