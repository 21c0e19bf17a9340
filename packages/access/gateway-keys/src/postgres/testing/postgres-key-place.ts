import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { TestDatabase } from '@vitrine/testkit/template-database';
import type { KeyBounds } from '../../key-store.ts';
import type { KeyPlace, OpenedKeyStore } from '../../testing/key-place.ts';
import type { StatementFailures } from '../../testing/statement-failures.ts';
import { PostgresKeyStore } from '../postgres-key-store.ts';

/** Empties the tables of a database, because creating a database for each of hundreds of places would take minutes. */
export async function openPostgresPlace(
  database: TestDatabase,
  bounds: KeyBounds = {},
  failures?: StatementFailures,
): Promise<KeyPlace> {
  {
    await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
    await pool.query('TRUNCATE gateway_keys, token_hashes, pepper_fingerprints, audit_events RESTART IDENTITY');
  }
  return { open: () => openStore(database, bounds, failures), async [Symbol.asyncDispose]() {} };
}

/** With the rights of a gateway process. */
function openStore(database: TestDatabase, bounds: KeyBounds, failures: StatementFailures | undefined): OpenedKeyStore {
  const url = new URL(database.dsn.reveal());
  url.searchParams.set('options', '-c role=vitrine_gateway');
  const pool = new PostgresPool({
    dsn: new Secret(url.href),
    applicationName: 'key store of a test',
    beforeStatement: () => failures?.statement(),
  });
  const store = new PostgresKeyStore(pool, bounds);
  const close = store[Symbol.asyncDispose].bind(store);
  return Object.assign(store, {
    async [Symbol.asyncDispose]() {
      await close();
      await pool[Symbol.asyncDispose]();
    },
  });
}
