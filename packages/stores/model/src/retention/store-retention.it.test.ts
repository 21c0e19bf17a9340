import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { lockByName } from '@vitrine/postgres/advisory-lock';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { addKey, storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { DAY_MS } from '../testing/store-states.ts';
import { StoreRetention, applyStoreRetention, noRowsRemoved, RETAINED_TABLES } from './store-retention.ts';

let database: StoreDatabase;
let replica: PostgresPool;
let workspace_id: string;
const realNow = Date.now;
const NOW = Date.now();
beforeAll(async () => {
  database = await storeDatabase();
  replica = database.as('vitrine_store_api');
  ({ workspace_id } = await addKey(database, 1));
});
afterAll(async () => database[Symbol.asyncDispose]());
afterEach(() => void (Date.now = realNow));
beforeEach(async () => {
  await database.owner.execute(`TRUNCATE retention_runs, ${RETAINED_TABLES.join()}`);
  await database.owner.execute(`INSERT INTO retention_runs VALUES ('store_api', now(), now())`);
});

/** Rows by their age in days; `open` ones are unpublished or unfinished. */
async function addRows(ages: readonly number[], open: number): Promise<void> {
  const times = ages.map((days) => new Date(NOW - days * DAY_MS));
  const rows = 'FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t (at, n)';
  await database.owner.execute(
    `INSERT INTO idempotency_keys SELECT $2, 'key-' || n, '\\x00', 'req_1', 200, NULL, '{}', at ${rows}`,
    [times, workspace_id],
  );
  await database.owner.execute(
    `INSERT INTO outbox (topic, key, payload, created_at, published_at) SELECT 't', 'k', '{}', at, at ${rows}
     UNION ALL SELECT 't', 'k', '{}', now() - interval '90 days', NULL FROM generate_series(1, $2)`,
    [times, open],
  );
  await database.owner.execute(
    `INSERT INTO scan_jobs SELECT 'job_' || n, 'shop-' || n || '.com', 'routine', 'completed', NULL, at, at, at ${rows}
     UNION ALL SELECT 'open_' || n, 'open-' || n || '.com', 'routine', 'queued', NULL, now() - interval '90 days', NULL, NULL
     FROM generate_series(1, $2) AS n`,
    [times, open],
  );
}

/** Rows of first-party surfaces by their age in days; login links by the time since they expired. */
async function addFirstPartyRows(ages: readonly number[]): Promise<void> {
  const times = ages.map((days) => new Date(NOW - days * DAY_MS));
  const rows = 'FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t (at, n)';
  await database.owner.execute(`INSERT INTO evidence SELECT 'evd_' || n, 'https://vendor.com', at, at, '{}' ${rows}`, [times]);
  await database.owner.execute(
    `INSERT INTO candidates SELECT 'cnd_' || n, 'evd_' || n, NULL, NULL, 'a claim', 'https://vendor.com', at - interval '90 days',
       CASE WHEN n % 2 = 0 THEN 'pending' ELSE 'resolved' END, at ${rows}`,
    [times],
  );
  await database.owner.execute(`INSERT INTO evidence_receipts SELECT 'receipt-' || n, '\\x00', '{}', at ${rows}`, [times]);
  await database.owner.execute(
    `INSERT INTO analyses SELECT 'ana_' || n, 'shop.com', 'job_gone', 'completed', NULL, at ${rows}
     UNION ALL SELECT 'ana_open', 'open.com', id, 'queued', NULL, queued_at FROM scan_jobs`,
    [times],
  );
  await database.owner.execute(
    `INSERT INTO members VALUES ($1, 'ada@shop.com', NULL, NULL, 'admin', now()) ON CONFLICT DO NOTHING`,
    [workspace_id],
  );
  await database.owner.execute(
    `INSERT INTO login_links SELECT decode(lpad(to_hex(n), 8, '0'), 'hex'), 1, $2, 'ada@shop.com', at, at, NULL ${rows}`,
    [times, workspace_id],
  );
}

async function rowCounts(): Promise<Record<string, number>> {
  const counts = RETAINED_TABLES.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`);
  const [row] = await database.owner.query<Record<string, number>>(`SELECT ${counts.join()}`);
  return row ?? {};
}
const noRows = noRowsRemoved();
const QUIET = { info: () => {}, warn: () => {} };

test('idempotency keys are removed after 24 hours, published messages and finished jobs after 7 days; open ones stay', async () => {
  await addRows([0, 0.9, 1, 6.9, 7, 30], 3);
  const pass = await applyStoreRetention(replica, NOW, { batch: 2 });
  expect(pass).toEqual({ ...noRows, idempotency_keys: 4, outbox: 2, scan_jobs: 2 });
  expect(await rowCounts()).toEqual({ ...noRows, idempotency_keys: 2, outbox: 7, scan_jobs: 7 });
  expect(await applyStoreRetention(replica, NOW)).toEqual(noRows);
});

test('evidence is removed after 180 days with its receipt and candidates, decided or not; login links 7 days after expiry', async () => {
  await addFirstPartyRows([-1, 6.9, 7, 179.9, 180, 181, 400]);
  const pass = await applyStoreRetention(replica, NOW, { batch: 2 });
  expect(pass).toEqual({ ...noRows, analyses: 4, candidates: 3, evidence: 3, evidence_receipts: 3, login_links: 5 });
  const expected = { analyses: 3, candidates: 4, evidence: 4, evidence_receipts: 4, login_links: 2 };
  expect(await rowCounts()).toEqual({ ...noRows, ...expected });
  expect(await database.owner.query('SELECT FROM candidates WHERE evidence_id IS NULL')).toEqual([]);
});

test('analyses are removed after 30 days, but not before their job: those waiting for a scan stay', async () => {
  await addRows([], 1);
  await addFirstPartyRows([29.9, 30, 60]);
  expect((await applyStoreRetention(replica, NOW))?.analyses).toBe(2);
  await database.owner.execute(`UPDATE scan_jobs SET status = 'completed', finished_at = $1`, [new Date(NOW - 6 * DAY_MS)]);
  expect((await applyStoreRetention(replica, NOW))?.analyses).toBe(0);
  expect(await database.owner.query('SELECT id FROM analyses ORDER BY id')).toEqual([{ id: 'ana_1' }, { id: 'ana_open' }]);
  expect(await applyStoreRetention(replica, NOW + DAY_MS)).toMatchObject({ scan_jobs: 1, analyses: 2 });
});

test('the ledger has partitions of this month and the two after it', async () => {
  await applyStoreRetention(replica, NOW);
  const partitions = await database.owner.query(`SELECT FROM pg_class WHERE relname ~ '^ledger_2[0-9]{5}$' AND relkind = 'r'`);
  expect(partitions.length).toBeGreaterThanOrEqual(3);
});

test('while another replica applies retention, this one does nothing', async () => {
  await addRows([30], 0);
  await database.owner.transaction(async (transaction) => {
    await lockByName(transaction, 'vitrine.store_retention');
    expect(await applyStoreRetention(replica, NOW)).toBeUndefined();
  });
  expect(await rowCounts()).toEqual({ ...noRows, idempotency_keys: 1, outbox: 1, scan_jobs: 1 });
});

test('retention is applied at the start, and rows and failures are counted from zero', async () => {
  await addRows([30], 1);
  const lines: string[] = [];
  const logger = { ...QUIET, error: (_: object, message: string) => void lines.push(message) };
  await using retention = new StoreRetention(replica, logger);
  expect(retention.readings().removed).toContainEqual([{ table: 'outbox' }, 0]);
  const removed = () => Object.fromEntries(retention.readings().removed.map(([{ table }, count]) => [table, count]));
  await waitUntil(() => removed()['scan_jobs'] === 1, { what: 'a pass' });
  expect(removed()).toEqual({ ...noRows, idempotency_keys: 1, outbox: 1, scan_jobs: 1 });
  // A role that may not remove rows of these tables.
  await using failing = new StoreRetention(database.as('vitrine_enrich'), logger);
  await waitUntil(() => failing.readings().failures === 1, { what: 'a failure', timeoutMs: 60_000 });
  expect([retention.readings().failures, lines]).toEqual([0, ['store retention failed']]);
});

test('a process whose clock is 40 days ahead removes no young rows, and removed rows are logged', async () => {
  await addFirstPartyRows([20]);
  await addRows([0, 5, 8], 0);
  const before = await rowCounts();
  Date.now = () => NOW + 40 * DAY_MS;
  const lines: object[] = [];
  const log = (fields: object, message: string) => void lines.push({ ...fields, message });
  await using retention = new StoreRetention(replica, { info: log, warn: log, error: log });
  await waitUntil(() => lines.some((line) => 'what' in line && line.what === 'login_links'), { what: 'a pass' });
  expect(await rowCounts()).toEqual({
    ...before,
    idempotency_keys: 1,
    outbox: 2,
    scan_jobs: 2,
    login_links: 0,
  });
  expect(lines).toContainEqual({
    message: 'old data removed',
    what: 'outbox',
    count: 1,
    oldest: new Date(NOW - 8 * DAY_MS).toISOString(),
    newest: new Date(NOW - 8 * DAY_MS).toISOString(),
  });
  expect(retention.readings().failures).toBe(0);
});

test('passes begin when the database is available, and never after disposal', async () => {
  const lines: string[] = [];
  const logger = { ...QUIET, error: (_: object, message: string) => void lines.push(message) };
  const served = Promise.withResolvers<void>();
  // Without the rights for a pass, so that each pass logs a line.
  const replica = database.as('vitrine_enrich');
  await using retention = new StoreRetention(replica, logger, { ready: served.promise });
  const disposed = new StoreRetention(replica, logger, { ready: served.promise });
  await disposed[Symbol.asyncDispose]();
  expect(retention.readings().failures).toBe(0);
  served.resolve();
  await waitUntil(() => retention.readings().failures === 1, { what: 'the first pass' });
  expect([lines.length, disposed.readings().failures]).toEqual([1, 0]);
});
