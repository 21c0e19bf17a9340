import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomBytes } from 'node:crypto';
import { finishScanJob } from '../scans/finish-scan-job.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { T0 } from '../testing/store-states.ts';
import { analyzeStore, readAnalyses } from './analyses.ts';

let database: StoreDatabase;
let api: PostgresPool;
let scanner: PostgresPool;
beforeAll(async () => {
  database = await storeDatabase();
  [api, scanner] = [database.as('vitrine_store_api'), database.as('vitrine_enrich')];
});
afterAll(async () => database[Symbol.asyncDispose]());

/** Waits for locks as long as a paused machine takes. */
const patiently = <T>(pool: PostgresPool, work: (transaction: Transaction) => Promise<T>) =>
  pool.transaction(async (transaction) => {
    await transaction.execute(`SET LOCAL lock_timeout = '100s'`);
    await transaction.execute(`SET LOCAL statement_timeout = '100s'`);
    await transaction.execute(`SET LOCAL idle_in_transaction_session_timeout = '100s'`);
    return work(transaction);
  });
const analyze = (domain: string) => patiently(api, (transaction) => analyzeStore(transaction, domain, T0, randomBytes));
const statusOf = async (id: string) => (await readAnalyses(api, [id]))[0]?.status;
/** The open job of a domain; ids of one millisecond have no order. */
const jobOf = async (domain: string) => {
  const [row] = await database.owner.query<{ id: string }>(
    `SELECT id FROM scan_jobs WHERE domain = $1 AND status IN ('queued', 'running')`,
    [domain],
  );
  return row?.id ?? '';
};
const finish = async (domain: string, status: 'completed' | 'blocked' | 'failed', error: string | null = null) => {
  const id = await jobOf(domain);
  return patiently(scanner, (transaction) => finishScanJob(transaction, { id, status, error }));
};

/** Whether any session waits for a lock of this database. */
const isWaiting = async () => {
  const text = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return (await database.owner.query(text)).length > 0;
};

test.each([
  ['completed', null],
  ['blocked', 'the site asks for proof of a person'],
  ['failed', 'the site did not respond in time'],
] as const)('an analysis is queued, runs with its scan, and ends as it does: %s', async (status, error) => {
  const domain = `${status}-shop.com`;
  const { id } = await analyze(domain);
  expect(await statusOf(id)).toBe('queued');
  await scanner.execute(`UPDATE scan_jobs SET status = 'running' WHERE id = $1`, [await jobOf(domain)]);
  expect(await statusOf(id)).toBe('running');
  await finish(domain, status, error);
  expect(await readAnalyses(api, [id, 'ana_unknown'])).toEqual([{ id, status, domain, error }]);
});

test('analyses of a domain share its open scan and end together; the next analysis starts another scan', async () => {
  const [first, second] = [await analyze('shared.com'), await analyze('shared.com')];
  expect(first.id).not.toBe(second.id);
  await finish('shared.com', 'completed');
  expect([await statusOf(first.id), await statusOf(second.id)]).toEqual(['completed', 'completed']);
  const third = await analyze('shared.com');
  expect(await statusOf(third.id)).toBe('queued');
});

test('an analysis that begins while its scan is ending never waits for an ended scan', async () => {
  await analyze('race.com');
  const ended = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const id = await jobOf('race.com');
  const ending = patiently(scanner, async (transaction) => {
    await finishScanJob(transaction, { id, status: 'completed', error: null });
    ended.resolve();
    await mayCommit.promise;
  });
  await ended.promise;
  // Other sessions still see the open job.
  const late = analyze('race.com');
  await waitUntil(isWaiting, { what: 'the analysis to wait for the job' });
  mayCommit.resolve();
  await ending;
  const { id: analysis } = await late;
  expect(await statusOf(analysis)).toBe('queued');
  expect(await jobOf('race.com')).not.toBe(id);
  await finish('race.com', 'completed');
  expect(await statusOf(analysis)).toBe('completed');
});

test('a scan that ends before its analysis is committed also ends the analysis', async () => {
  await analyze('early.com');
  let ending: Promise<boolean> | undefined;
  const { id } = await patiently(api, async (transaction) => {
    const analysis = await analyzeStore(transaction, 'early.com', T0, randomBytes);
    ending = finish('early.com', 'completed');
    await Promise.race([ending, waitUntil(isWaiting, { what: 'the end of the scan to wait' })]);
    return analysis;
  });
  expect(await ending).toBe(true);
  expect(await statusOf(id)).toBe('completed');
});

test('a domain of the denylist is blocked from the start', async () => {
  await api.execute(`INSERT INTO domain_denylist (domain, reason) VALUES ('denied.com', 'asked for it')`);
  const { id } = await analyze('denied.com');
  expect(await readAnalyses(api, [id])).toEqual([
    { id, status: 'blocked', domain: 'denied.com', error: 'the domain is on the denylist' },
  ]);
});
