import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { lockByName } from '@vitrine/postgres/advisory-lock';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createId } from '@vitrine/stores/identifiers';
import { storeDatabase, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { randomBytes } from 'node:crypto';
import { removeEvidence } from './routine-work.ts';
import { queueRescans, type RescanOptions } from './rescan-scheduler.ts';

const DAY_MS = 86_400_000;
let database: StoreDatabase;
let scanner: PostgresPool;
beforeAll(async () => {
  database = await storeDatabase();
  scanner = database.as('vitrine_enrich');
});
afterAll(async () => database[Symbol.asyncDispose]());
beforeEach(async () => void (await database.owner.query('TRUNCATE stores, observations, scan_jobs, outbox CASCADE')));

const addStores = (prefix: string, count: number, state: string, dueAt: string) =>
  database.owner.execute(
    `INSERT INTO stores (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce, next_scan_at)
     SELECT 'sf_' || $1 || n, $1 || n || '.com', $1 || n || '.com', $3, now(), true, now() + $4::interval FROM generate_series(1, $2::int) AS n`,
    [prefix, count, state, dueAt],
  );
const options: RescanOptions = {
  cadenceMs: 7 * DAY_MS,
  maxOpen: 1_000,
  createId: () => createId('job', Date.now(), randomBytes),
};
const jobs = async () =>
  (await database.owner.query<{ domain: string }>('SELECT domain FROM scan_jobs ORDER BY domain')).map(({ domain }) => domain);

test('due stores are queued as routine scans, active ones first, and once per cadence', async () => {
  await addStores('active', 3, 'active_storefront', '-1 hour');
  await addStores('inactive', 3, 'inactive', '-2 days');
  await addStores('later', 3, 'active_storefront', '1 hour');
  expect(await queueRescans(scanner, { ...options, maxOpen: 4 })).toEqual({ result: 'queued', scans: 4, due: 4 });
  expect((await jobs()).map((domain) => domain.replace(/\d.*/, ''))).toEqual(['active', 'active', 'active', 'inactive']);
  expect(await queueRescans(scanner, options)).toEqual({ result: 'queued', scans: 2, due: 2 });
  expect(await queueRescans(scanner, options)).toEqual({ result: 'queued', scans: 0, due: 0 });
  const [row] = await database.owner.query<{ least: number; most: number }>(
    `SELECT min(next_scan_at) AS least, max(next_scan_at) AS most FROM stores WHERE domain NOT LIKE 'later%'`,
  );
  // 6.3 to 7.7 days after the scan, plus time for the test itself.
  expect(row?.least).toBeGreaterThan(Date.now() + 6 * DAY_MS);
  expect(row?.most).toBeLessThan(Date.now() + 8 * DAY_MS);
  expect(row?.least).not.toBe(row?.most);
  const topics = await database.owner.query('SELECT DISTINCT topic FROM outbox');
  expect(topics).toEqual([{ topic: 'vitrine.scans.routine' }]);
});

test('no more scans are open than configured, and at most 200 are queued at once', async () => {
  await addStores('shop', 500, 'active_storefront', '-1 hour');
  const scansOf = async (maxOpen: number) => {
    const run = await queueRescans(scanner, { ...options, maxOpen });
    return run.result === 'queued' ? run.scans : undefined;
  };
  expect([await scansOf(250), await scansOf(250), await scansOf(250)]).toEqual([200, 50, 0]);
  await database.owner.execute(`UPDATE scan_jobs SET status = 'completed' WHERE domain = 'shop1.com'`);
  expect(await scansOf(250)).toBeLessThanOrEqual(1);
});

test('one process schedules at a time', async () => {
  await addStores('shop', 1, 'active_storefront', '-1 hour');
  await database.owner.transaction(async (transaction) => {
    await lockByName(transaction, 'vitrine.rescan_scheduler');
    expect(await queueRescans(scanner, options)).toEqual({ result: 'not_leading' });
  });
  expect(await queueRescans(scanner, options)).toMatchObject({ scans: 1 });
});

test('a store with an open job is not queued again', async () => {
  await addStores('shop', 1, 'active_storefront', '-1 hour');
  await queueRescans(scanner, options);
  await database.owner.execute(`UPDATE stores SET next_scan_at = now() - interval '1 hour'`);
  expect(await queueRescans(scanner, options)).toEqual({ result: 'queued', scans: 0, due: 1 });
  expect(await jobs()).toEqual(['shop1.com']);
});

test('only evidence is removed after its retention', async () => {
  await addStores('shop', 1, 'active_storefront', '1 hour');
  await database.owner.execute(
    `INSERT INTO observations (id, storefront_id, started_at, completed_at, scope, registry_checksum, facts, evidence)
     SELECT 'obs_' || n, 'sf_shop1', now(), now() - make_interval(days => n), 'full', 'x', '{"n":1}', '{"hosts":[]}' FROM generate_series(1, 1200) AS n`,
  );
  const before = Date.now() - 180 * 86_400_000;
  const counts: number[] = [];
  for (let count = 1; count > 0; counts.push(count)) count = (await removeEvidence(scanner, before))[0]?.count ?? 0;
  expect(counts).toEqual([500, 500, 21, 0]);
  const rows = await database.owner.query(
    `SELECT count(*) AS all, count(evidence) AS evidence, count(facts) AS facts, max(completed_at) FILTER (WHERE evidence IS NOT NULL) IS NOT NULL AS kept FROM observations`,
  );
  expect(rows).toEqual([{ all: 1_200, evidence: 179, facts: 1_200, kept: true }]);
});
