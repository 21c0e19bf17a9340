import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { migrate } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { startEmbeddedServer } from '@vitrine/testkit/embedded-postgres-server';
import { MIGRATIONS_FOLDER } from '@vitrine/testkit/template-database';
import { mkdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import type { Progress } from '../bench.ts';
import { DOMAIN, sampleProfiles } from './sample-profiles.ts';
import { cpuMicrosOf } from '../proxy/process-cost.ts';
import type { StoreApiPlan } from './store-api-plan.ts';
import { KEYS, PEPPER, tokenOf } from './tokens.ts';

export const WORKSPACES = 16;
const MIB = 2 ** 20;
/** Durable, and with a quarter of the machine's memory for buffers, as docs/operations.md advises. */
const SETTINGS = [`shared_buffers=${Math.floor(totalmem() / 4 / MIB)}MB`, 'max_wal_size=8GB'];
const TIMEOUT_MS = 3_600_000;
const CHUNK = 50_000;
/** Limits that are never reached here, so that admission and charge do all their work and refuse nothing. */
const LIMITS = {
  rpm: 1_000_000_000,
  concurrency: 1_000,
  freshnessDays: 36_500,
  historyDays: 365,
  enrichBatchMax: 100,
  liveRefreshesPerPeriod: 1_000_000,
  included: { lookup_cached: 2_000_000_000, history_query: 0, refresh_requested: 0 },
};

export interface StoreData extends AsyncDisposable {
  /** As its owner. */
  readonly pool: PostgresPool;
  /** As the role of the store API. */
  readonly serviceDsn: string;
  readonly sizeBytes: number;
  /** CPU time of each process of the server that is there now; none where there is no /proc. */
  cpuMicros(): Promise<ReadonlyMap<number, number>>;
}

/** A Postgres with keys, stores and a ledger, which it fills unless it has stores. */
export async function openStoreData(folder: string, plan: StoreApiPlan, progress: Progress): Promise<StoreData> {
  await using opened = new AsyncDisposableStack();
  await mkdir(folder, { recursive: true });
  const server = opened.use(await startEmbeddedServer({ folder: resolve(folder), settings: SETTINGS, isKept: true }));
  const dsn = new Secret(server.url);
  await migrate({ dsn, folder: MIGRATIONS_FOLDER });
  const pool = opened.use(new PostgresPool({ dsn, applicationName: 'bench', statementTimeoutMs: TIMEOUT_MS }));
  const [found] = await pool.query<{ there: boolean }>('SELECT EXISTS (SELECT FROM stores) AS there');
  if (found?.there !== true) await fill(pool, plan, progress);
  await fillBuffers(pool, progress);
  const [size] = await pool.query<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
  const url = new URL(server.url);
  url.searchParams.set('options', '-c role=vitrine_store_api');
  const running = opened.move();
  return {
    pool,
    serviceDsn: url.href,
    sizeBytes: size?.bytes ?? 0,
    cpuMicros: () => serverCpu(pool),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Fills the buffers like in a running server. Uses the index, because a scan of a large table does not fill them. */
async function fillBuffers(pool: PostgresPool, progress: Progress): Promise<void> {
  progress('read all stores once, so that they are in the buffers of the server');
  await pool.transaction(async (transaction) => {
    await transaction.query('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
    await transaction.query(`SELECT count(*) FROM stores WHERE domain > '' AND profile_hash = ''`);
  });
}

async function serverCpu(pool: PostgresPool): Promise<ReadonlyMap<number, number>> {
  const processes = await pool.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  return new Map(processes.map(({ pid }) => [pid, cpuMicrosOf(pid) ?? 0]));
}

async function fill(pool: PostgresPool, { stores, ledgerRows }: StoreApiPlan, progress: Progress): Promise<void> {
  await pool.execute('INSERT INTO plans (name, limits) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    'growth',
    JSON.stringify(LIMITS),
  ]);
  await pool.execute(
    `INSERT INTO workspaces SELECT 'ws_' || lpad(n::text, 26, '0'), 'workspace ' || n, 'growth', 1, 'org', 'ws', now()
     FROM generate_series(0, $1::int - 1) AS n`,
    [WORKSPACES],
  );
  const hashes = new TokenHashes([{ version: 1, secret: new Secret(PEPPER) }]);
  const macs = Array.from({ length: KEYS }, (_, key) => hashes.hash(tokenOf(key)).token_mac);
  await pool.execute(
    `INSERT INTO api_keys SELECT 'key_' || lpad((n - 1)::text, 26, '0'), 'ws_' || lpad(((n - 1) % $2)::text, 26, '0'), 'key ' || n,
       'svc_live_kkkk', 'live', '{read:stores,write:scans}', 1, mac, NULL, now(), NULL, NULL
     FROM unnest($1::bytea[]) WITH ORDINALITY AS k (mac, n)`,
    [macs, WORKSPACES],
  );
  await fillStores(pool, stores, progress);
  await fillLedger(pool, ledgerRows, progress);
  progress('vacuum and analyze, as autovacuum does');
  for (const table of ['stores', 'ledger', 'usage_counters', 'usage_by_key', 'api_keys', 'workspaces', 'plans'])
    await pool.query(`VACUUM (ANALYZE) ${table}`);
  await pool.query('CHECKPOINT');
}

async function fillStores(pool: PostgresPool, stores: number, progress: Progress): Promise<void> {
  const samples = sampleProfiles();
  for (let from = 0; from < stores; from += CHUNK) {
    const to = Math.min(stores, from + CHUNK) - 1;
    await pool.execute(
      `INSERT INTO stores (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce, first_observed_at,
         last_completed_scan_at, scope, profile, profile_hash)
       SELECT 'sf_' || lpad(n::text, 26, '0'), 'shop-' || n || '.com', 'www.shop-' || n || '.com', 'active_storefront', now(), true, now(),
         now(), 'full', replace(($3::text[])[1 + n % $4], $5, 'shop-' || n || '.com'), 'hash-of-' || lpad(n::text, 14, '0')
       FROM generate_series($1::int, $2::int) AS n`,
      [from, to, samples, samples.length, DOMAIN],
    );
    progress(`${(to + 1).toLocaleString('en')} of ${stores.toLocaleString('en')} stores`);
  }
}

/** Rows of operations in their order, over all keys, in this month; counters have their sums. */
async function fillLedger(pool: PostgresPool, rows: number, progress: Progress): Promise<void> {
  await pool.query('SELECT make_ledger_partitions(1)');
  for (let from = 0; from < rows; from += 10 * CHUNK) {
    const to = Math.min(rows, from + 10 * CHUNK) - 1;
    await pool.execute(
      `INSERT INTO ledger (workspace_id, operation_id, domain, unit, created_at, key_id, period_starts_at)
       SELECT 'ws_' || lpad((n % $3)::text, 26, '0'), 'op_' || lpad(n::text, 26, '0'), 'shop-' || (n::bigint * 7919 % 1000000) || '.com', 'lookup_cached',
         date_trunc('month', now(), 'UTC') + n * interval '1 millisecond', 'key_' || lpad((n % $4)::text, 26, '0'), date_trunc('month', now(), 'UTC')
       FROM generate_series($1::int, $2::int) AS n`,
      [from, to, WORKSPACES, KEYS],
    );
    progress(`${(to + 1).toLocaleString('en')} of ${rows.toLocaleString('en')} ledger rows`);
  }
  await pool.execute(`INSERT INTO usage_counters (workspace_id, starts_at, lookup_cached)
    SELECT workspace_id, period_starts_at, count(*) FROM ledger GROUP BY 1, 2`);
  await pool.execute(`INSERT INTO usage_by_key (workspace_id, starts_at, key_id, lookup_cached)
    SELECT workspace_id, period_starts_at, key_id, count(*) FROM ledger GROUP BY 1, 2, 3`);
}
