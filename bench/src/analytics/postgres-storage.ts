import { Secret } from '@vitrine/config/secret';
import { migrate } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { startEmbeddedServer } from '@vitrine/testkit/embedded-postgres-server';
import { MIGRATIONS_FOLDER } from '@vitrine/testkit/template-database';
import { openPostgresTraceStore, postgresWriter } from '@vitrine/trace-store-postgres/postgres-trace-store';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import { mkdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import type { Progress } from '../bench.ts';
import type { AnalyticsPlan } from './analytics-plan.ts';
import type { BenchStorage, Loaded } from './bench-storage.ts';
import { derivationThread, oldestOf, writeTraffic } from './load-traces.ts';

/** Larger than those of a gateway, like those of the trace-writer: sums are a row for each batch and key. */
const BATCH = 1_024;
const VACUUM_TIMEOUT_MS = 3_600_000;
const MIB = 2 ** 20;
/** Durable, with a quarter of the machine's memory for buffers, as docs/operations.md advises, and no checkpoint every few seconds while traces are
 *  loaded. */
const SETTINGS = [`shared_buffers=${Math.floor(totalmem() / 4 / MIB)}MB`, 'max_wal_size=8GB'];

/** Traces in Postgres: in the database of `dsn`, or on a server that keeps its data in `folder`. */
export async function openPostgresStorage(folder: string, dsn: string | undefined): Promise<BenchStorage> {
  await using opened = new AsyncDisposableStack();
  const secret = new Secret(dsn ?? (await startServer(resolve(folder), opened)));
  await migrate({ dsn: secret, folder: MIGRATIONS_FOLDER });
  const running = opened.move();
  return {
    variables: { SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: secret.reveal() },
    async load(plan, progress) {
      const loaded = await load(secret, plan, progress);
      if (dsn === undefined) await fillBuffers(secret, progress);
      return loaded;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startServer(folder: string, opened: AsyncDisposableStack): Promise<string> {
  await mkdir(folder, { recursive: true });
  return opened.use(await startEmbeddedServer({ folder, settings: SETTINGS, isKept: true })).url;
}

async function load(dsn: Secret, plan: AnalyticsPlan, progress: Progress): Promise<Loaded> {
  await using pool = new PostgresPool({ dsn, applicationName: 'bench', statementTimeoutMs: VACUUM_TIMEOUT_MS });
  const store = openPostgresTraceStore({ dsn, applicationName: 'bench lists' });
  const isThere = (await store.summary()).traceCount > 0;
  const from = isThere ? await oldestOf(store) : Date.now() - plan.days * DAY_MS;
  const microsPerTrace = isThere ? undefined : await fill(pool, dsn, from, plan, progress);
  const [size] = await pool.query<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
  return { store, from, microsPerTrace, sizeBytes: size?.bytes ?? 0 };
}

/** Loads the data that a server in use has in its buffers. A server that was just started would read each day from disk with the first query that
 *  needs it. The most read tables come last. */
async function fillBuffers(dsn: Secret, progress: Progress): Promise<void> {
  progress('read all tables and indexes once, as a server in use has');
  await using pool = new PostgresPool({ dsn, applicationName: 'bench', statementTimeoutMs: VACUUM_TIMEOUT_MS });
  await pool.query('CREATE EXTENSION IF NOT EXISTS pg_prewarm');
  await pool.query(
    `SELECT sum(pg_prewarm(oid::regclass)) FROM (
       SELECT oid FROM pg_class WHERE relkind IN ('r', 'i', 't') AND pg_relation_size(oid) > 0 AND relpersistence = 'p'
       ORDER BY relname LIKE 'trace_bodies%' DESC, relkind = 'i', relname) AS relations`,
  );
}

async function fill(pool: PostgresPool, dsn: Secret, from: number, plan: AnalyticsPlan, progress: Progress): Promise<number> {
  await pool.query(
    `SELECT make_trace_partition(parent, day::date)
     FROM generate_series($1::timestamptz AT TIME ZONE 'UTC', now() AT TIME ZONE 'UTC' + interval '1 day', '1 day') AS day,
       unnest(ARRAY['traces', 'trace_bodies']) AS parent`,
    [new Date(from - DAY_MS)],
  );
  await using sink = derivationThread(postgresWriter({ dsn, applicationName: 'bench writer' }));
  const microsPerTrace = await writeTraffic(sink, from, BATCH, plan, progress);
  progress('vacuum and analyze, as autovacuum does');
  for (const { name } of await tablesOf(pool)) await pool.query(`VACUUM (ANALYZE) ${name}`);
  return microsPerTrace;
}

/** All tables with rows: autovacuum does not look at partitioned tables themselves. */
function tablesOf(pool: PostgresPool): Promise<{ readonly name: string }[]> {
  return pool.query(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
}
