import type { Secret } from '@vitrine/config/secret';
import { Fault } from '@vitrine/faults/fault';
import { readdir } from 'node:fs/promises';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { addressOf } from './dsn.ts';

const MIGRATIONS_TABLE = 'schema_migrations';
const CONNECT_TIMEOUT_MS = 10_000;

/** A migration, named by its file without `.sql`. */
export interface Migration {
  readonly name: string;
  /** Milliseconds since the epoch; undefined while it is missing in the database. */
  readonly ranAt: number | undefined;
}

interface MigrationSource {
  readonly dsn: Secret;
  /** Folder of numbered `.sql` files. */
  readonly folder: string;
}

/** Runs the migrations that the database lacks, all or none, and resolves with their names. If several processes start it at once, one runs them
 *  and the others wait. Faults: `invalid_dsn`, `foreign_schema`. */
export async function migrate({ dsn, folder }: MigrationSource): Promise<string[]> {
  await using client = await connect(dsn);
  refuseOtherMigrations(await namesIn(folder), await ranMigrations(client.client));
  const ran = await runner({
    dbClient: client.client,
    dir: folder,
    direction: 'up',
    migrationsTable: MIGRATIONS_TABLE,
    advisoryLockMode: 'wait',
    checkOrder: true,
    singleTransaction: true,
    log: () => {},
  });
  return ran.map(({ name }) => name);
}

/** The migrations of the folder in their order, and when each ran. Faults: `invalid_dsn`, `foreign_schema`. */
export async function listMigrations({ dsn, folder }: MigrationSource): Promise<Migration[]> {
  const names = await namesIn(folder);
  await using client = await connect(dsn);
  const ranAt = await ranMigrations(client.client);
  refuseOtherMigrations(names, ranAt);
  return names.map((name) => ({ name, ranAt: ranAt.get(name) }));
}

async function namesIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql'));
  return files.map((file) => file.slice(0, -'.sql'.length)).toSorted();
}

/** Refuses a database made before 0.1.0, whose migrations had other names. A database of a newer version has ours and further ones. */
function refuseOtherMigrations(names: readonly string[], ran: ReadonlyMap<string, number>): void {
  const last = names.at(-1) ?? '';
  const unknown = [...ran.keys()].find((name) => name <= last && !names.includes(name));
  if (unknown === undefined) return;
  const say =
    `the database has run the migration ${unknown}, which no release has: it was made before 0.1.0 and cannot be upgraded. ` +
    'Create an empty database, name it in the DSN, and run migrate again';
  throw new Fault('foreign_schema', { say });
}

async function ranMigrations(client: pg.Client): Promise<ReadonlyMap<string, number>> {
  const { rows: tables } = await client.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
    `public.${MIGRATIONS_TABLE}`,
  ]);
  if (tables[0]?.found !== true) return new Map();
  const { rows } = await client.query<{ name: string; ran: number }>(
    `SELECT name, extract(epoch FROM run_on)::float8 * 1000 AS ran FROM public.${MIGRATIONS_TABLE} ORDER BY id`,
  );
  return new Map(rows.map(({ name, ran }) => [name, ran]));
}

/** Without a statement timeout, because building an index on a large table can take long. */
async function connect(dsn: Secret): Promise<AsyncDisposable & { readonly client: pg.Client }> {
  addressOf(dsn);
  const client = new pg.Client({
    connectionString: dsn.reveal(),
    application_name: 'vitrine-migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // The table of migrations has times without a zone.
    options: '-c timezone=UTC',
  });
  client.on('error', () => {});
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end().catch(() => {}) };
}
