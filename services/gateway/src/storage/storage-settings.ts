import type { Secret } from '@vitrine/config/secret';
import { invariant } from '@vitrine/faults/invariant';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { addressOf, addressText } from '@vitrine/postgres/dsn';
import type { StoreSummary } from '@vitrine/traces/trace-store';
import { resolve } from 'node:path';

/** The configured store of traces and keys. */
export interface StorageSettings {
  readonly driver: StoreSummary['driver'];
  readonly path: string;
  readonly dsn?: Secret | undefined;
}

/** How to connect to the configured Postgres; undefined when traces and keys are in SQLite files. `use` is shown in `pg_stat_activity`. */
export function postgresOptions({ driver, dsn }: StorageSettings, use: string): PostgresPoolOptions | undefined {
  if (driver !== 'postgres') return undefined;
  invariant(dsn !== undefined, 'a rule of the configuration: postgres has a DSN');
  return { dsn, applicationName: `vitrine-gateway ${use}` };
}

/** Where the traces are, for messages: a path, or the address of a database without user and password. */
export function storagePlace({ path, dsn }: StorageSettings): string {
  return dsn === undefined ? resolve(path) : addressText(addressOf(dsn));
}
