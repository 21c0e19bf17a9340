import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { lockByName } from '@vitrine/postgres/advisory-lock';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { addKey, storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { DAY_MS } from '../testing/store-states.ts';
import { StoreRetention } from './keep-store-retention.ts';
import { applyStoreRetention } from './store-retention.ts';

let database: StoreDatabase;
let replica: PostgresPool;
let workspace_id: string;
const NOW = Date.now();
beforeAll(async () => {
  database = await storeDatabase();
  replica = database.as('vitrine_store_api');
  ({ workspace_id } = await addKey(database, 1));
});
afterAll(async () => database[Symbol.asyncDispose]());
beforeEach(async () => database.owner.execute('TRUNCATE idempotency_keys, outbox, scan_jobs'));

/** Rows by their age in days; `open` ones are not published and not finished. */
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
const rowCounts = async () =>
  (
    await database.owner.query(`SELECT (SELECT count(*) FROM idempotency_keys) AS keys, (SELECT count(*) FROM outbox) AS messages,
      (SELECT count(*) FROM scan_jobs) AS jobs`)
  )[0];

test('idempotency keys go after 24 hours, published messages and finished jobs after 7 days; what is open stays', async () => {
  await addRows([0, 0.9, 1, 6.9, 7, 30], 3);
  const pass = await applyStoreRetention(replica, NOW, 2);
  expect(pass?.removed).toEqual({ idempotency_keys: 4, outbox: 2, scan_jobs: 2 });
  expect(await rowCounts()).toEqual({ keys: 2, messages: 7, jobs: 7 });
  expect((await applyStoreRetention(replica, NOW))?.removed).toEqual({ idempotency_keys: 0, outbox: 0, scan_jobs: 0 });
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
  expect(await rowCounts()).toEqual({ keys: 1, messages: 1, jobs: 1 });
});

test('retention is applied at the start; rows and failures are counted from zero', async () => {
  await addRows([30], 1);
  const lines: string[] = [];
  const logger = { error: (_: object, message: string) => void lines.push(message) };
  await using retention = new StoreRetention(replica, logger);
  expect(retention.readings().removed).toContainEqual([{ table: 'outbox' }, 0]);
  await waitUntil(() => retention.readings().removed.every(([, count]) => count === 1), { what: 'a pass', timeoutMs: 60_000 });
  // A role that may not remove rows of these tables.
  await using failing = new StoreRetention(database.as('vitrine_enrich'), logger);
  await waitUntil(() => failing.readings().failures === 1, { what: 'a failure', timeoutMs: 60_000 });
  expect([retention.readings().failures, lines]).toEqual([0, ['store retention failed']]);
});

test('passes begin when the database serves, and not at all after disposal', async () => {
  const lines: string[] = [];
  const logger = { error: (_: object, message: string) => void lines.push(message) };
  const served = Promise.withResolvers<void>();
  // Without the rights that a pass needs, so that each pass is a line.
  const replica = database.as('vitrine_enrich');
  await using retention = new StoreRetention(replica, logger, { ready: served.promise });
  const disposed = new StoreRetention(replica, logger, { ready: served.promise });
  await disposed[Symbol.asyncDispose]();
  expect(retention.readings().failures).toBe(0);
  served.resolve();
  await waitUntil(() => retention.readings().failures === 1, { what: 'the first pass' });
  expect([lines.length, disposed.readings().failures]).toEqual([1, 0]);
});
