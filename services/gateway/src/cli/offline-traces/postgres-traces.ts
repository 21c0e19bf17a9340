import { Fault, messageOf } from '@vitrine/faults/fault';
import { addressText } from '@vitrine/postgres/dsn';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { ALL_TENANTS } from '@vitrine/trace-store-postgres/conditions';
import { openPostgresTraceStore } from '@vitrine/trace-store-postgres/postgres-trace-store';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { OfflineTraces } from './offline-traces.ts';

const LINEAGE_COLUMNS = ['trace_group_id', 'thread_id', 'run_id'] as const;
const CONNECTIONS = 2;

/** The traces of a database that gateways may be using. Faults: `storage_unusable` of every read; `too_many_groups`. */
export function openPostgresTraces(options: PostgresPoolOptions): OfflineTraces {
  const bounded = { ...options, maxConnections: CONNECTIONS };
  const pool = new PostgresPool(bounded);
  const store = openPostgresTraceStore(bounded);
  const place = addressText(pool.address);
  const attempt = async <T>(read: Promise<T>): Promise<T> => {
    try {
      return await read;
    } catch (cause) {
      const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
      throw new Fault('storage_unusable', { say: `${place} cannot be read: ${messageOf(reason)}`, cause });
    }
  };
  const tenants = (from: string, values: readonly unknown[] = []) =>
    attempt(pool.query<Tenant>(`SELECT DISTINCT org_id, workspace_id FROM ${from} ORDER BY 1, 2`, values));
  return {
    list: (query) => attempt(store.list(query)),
    get: (id) => attempt(store.get(id)),
    checkpoints: (query) => attempt(store.checkpoints(query)),
    ancestors: (query) => attempt(store.ancestors(query)),
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
