import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { randomBytes } from 'node:crypto';
import { createId } from '../identifiers.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { T0 } from '../testing/store-states.ts';
import { finishScanJob } from './finish-scan-job.ts';
import { queueScans, type ScanCause } from './queue-scans.ts';

let database: StoreDatabase;
let replicas: [PostgresPool, PostgresPool];
beforeAll(async () => {
  database = await storeDatabase();
  replicas = [database.as('vitrine_store_api'), database.as('vitrine_enrich')];
});
afterAll(async () => database[Symbol.asyncDispose]());

const scansOf = (domains: readonly string[], cause: ScanCause = 'requested') => ({
  domains,
  cause,
  createId: () => createId('job', T0, randomBytes),
});
const queue = async (domains: readonly string[], cause?: ScanCause, replica: PostgresPool = replicas[0]) =>
  Object.fromEntries(await replica.transaction((transaction) => queueScans(transaction, scansOf(domains, cause))));
const messages = (domain: string) =>
  database.owner.query('SELECT topic, payload FROM outbox WHERE key = $1 ORDER BY id', [domain]);

test('a scan is a job and its message; a domain with an open job gets that job and no message', async () => {
  const first = await queue(['b.com', 'a.com']);
  expect(Object.keys(first).toSorted()).toEqual(['a.com', 'b.com']);
  const job = first['a.com'];
  expect(job).toEqual({ scan_job_id: expect.stringMatching(/^job_[0-9a-z]{26}$/), state: 'new' });
  expect(await queue(['a.com'], 'routine', replicas[1])).toEqual({ 'a.com': { ...job, state: 'open' } });
  const payload = JSON.stringify({ scan_job_id: job?.scan_job_id, domain: 'a.com' });
  const [message, ...others] = await messages('a.com');
  expect([message?.['topic'], JSON.parse(String(message?.['payload'])), others]).toEqual([
    'vitrine.scans.requested',
    JSON.parse(payload),
    [],
  ]);
});

test('a domain can be queued again after any end of its job', async () => {
  for (const status of ['completed', 'blocked', 'failed'] as const) {
    const { 'c.com': job } = await queue(['c.com'], 'routine');
    expect(job?.state).toBe('new');
    const result = { id: job?.scan_job_id ?? '', status, error: status === 'failed' ? 'ETIMEDOUT' : null };
    const finish = () => replicas[1].transaction((transaction) => finishScanJob(transaction, result));
    expect([await finish(), await finish()]).toEqual([true, false]);
  }
  expect((await messages('c.com')).map(({ topic }) => topic)).toEqual(Array(3).fill('vitrine.scans.routine'));
});

test('a domain of the denylist is never queued', async () => {
  await replicas[0].execute(`INSERT INTO domain_denylist (domain, reason) VALUES ('denied.com', 'asked for it')`);
  expect(Object.keys(await queue(['denied.com', 'd.com']))).toEqual(['d.com']);
  expect(await messages('denied.com')).toEqual([]);
});

test('neither job nor message remains of a transaction that fails', async () => {
  const failing = replicas[0].transaction(async (transaction) => {
    await queueScans(transaction, scansOf(['e.com']));
    throw new Error('the caller failed');
  });
  await expect(failing).rejects.toThrow('the caller failed');
  expect(await messages('e.com')).toEqual([]);
  expect((await queue(['e.com']))['e.com']?.state).toBe('new');
});

test('concurrent batches of the same domains in any order create one job per domain', async () => {
  const domains = Array.from({ length: 50 }, (_, i) => `shop-${i}.com`);
  const batches = await Promise.all(
    Array.from({ length: 12 }, (_, i) => queue(i % 2 === 0 ? domains : domains.toReversed(), 'requested', replicas[i % 2])),
  );
  const jobs = new Set(batches.flatMap((batch) => Object.values(batch).map(({ scan_job_id }) => scan_job_id)));
  expect(jobs.size).toBe(50);
  expect(batches.flatMap((batch) => Object.values(batch)).filter(({ state }) => state === 'new')).toHaveLength(50);
  const [row] = await database.owner.query(`SELECT count(*) AS n FROM outbox WHERE key LIKE 'shop-%'`);
  expect(row).toEqual({ n: 50 });
});

test('queueing no domains does nothing', async () => {
  expect(await queue([])).toEqual({});
});
