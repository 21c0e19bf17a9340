import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createId } from '@vitrine/stores/identifiers';
import { queueScans, type ScanCause } from '@vitrine/stores/scans/queue-scans';
import { storeDatabase, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { randomBytes } from 'node:crypto';
import { holdJob, ScanJobs, type ClaimedJob } from './scan-jobs.ts';

let database: StoreDatabase;
let pools: [PostgresPool, PostgresPool];
let jobs: [ScanJobs, ScanJobs];
beforeAll(async () => {
  database = await storeDatabase();
  pools = [database.as('vitrine_enrich'), database.as('vitrine_enrich')];
  jobs = [new ScanJobs(pools[0]), new ScanJobs(pools[1])];
});
afterAll(async () => database[Symbol.asyncDispose]());
beforeEach(async () => void (await database.owner.query('TRUNCATE scan_jobs, analyses, outbox')));

const queue = async (domain: string, cause: ScanCause = 'requested') => {
  const newId = () => createId('job', Date.now(), randomBytes);
  const queued = await pools[0].transaction((transaction) =>
    queueScans(transaction, { domains: [domain], cause, createId: newId }),
  );
  return queued.get(domain)?.scan_job_id ?? '';
};
const rowOf = async (id: string) => (await database.owner.query('SELECT * FROM scan_jobs WHERE id = $1', [id]))[0];
const expire = (id: string) => database.owner.execute(`UPDATE scan_jobs SET due_at = now() - interval '1 s' WHERE id = $1`, [id]);
const claim = async (id: string, replica: 0 | 1 = 0): Promise<ClaimedJob> => {
  const job = await jobs[replica].claim(id);
  if (job === undefined) throw new Error('the job was not claimed');
  return job;
};

test('exactly one of several replicas gets a job that all claim at once', async () => {
  const id = await queue('a.com');
  await database.owner.execute(
    `INSERT INTO analyses (id, domain, scan_job_id, created_at) VALUES ('ana_1', 'a.com', $1, now())`,
    [id],
  );
  const claims = await Promise.all(Array.from({ length: 10 }, async (_, i) => jobs[i % 2]?.claim(id)));
  const [job, ...others] = claims.filter((one) => one !== undefined);
  expect(others).toEqual([]);
  expect(job).toMatchObject({ id, domain: 'a.com', cause: 'requested', attempts: 1, queuedAt: expect.any(Number) });
  expect(await rowOf(id)).toMatchObject({ status: 'running', attempts: 1, started_at: expect.any(Number) });
  expect(await database.owner.query('SELECT status FROM analyses')).toEqual([{ status: 'running' }]);
  expect([await jobs[0].claim('job_unknown'), await jobs[0].firstDue()]).toEqual([undefined, undefined]);
});

test('a job of a dead process is taken again after its lease, and the first holder cannot end it', async () => {
  const id = await queue('b.com');
  const dead = await claim(id);
  expect([...(await jobs[0].renew([dead]))]).toEqual([id]);
  await expire(id);
  expect(await jobs[1].firstDue()).toBe('requested');
  const taken = await jobs[1].claimDue();
  expect(taken).toMatchObject({ id, attempts: 2 });
  expect(taken?.leaseId).not.toBe(dead.leaseId);
  expect([...(await jobs[0].renew([dead]))]).toEqual([]);
  const ends = [
    await jobs[0].end(dead, 'failed', 'late'),
    await jobs[0].retry(dead, 0, 'late'),
    await jobs[0].putOff(dead, 0),
    await pools[0].transaction((transaction) => holdJob(transaction, dead)),
  ];
  expect(ends).toEqual([false, false, false, false]);
  expect(taken && (await jobs[1].end(taken, 'blocked', 'challenged: x'))).toBe(true);
  expect(await rowOf(id)).toMatchObject({ status: 'blocked', error: 'challenged: x' });
});

test('the end of a job is dated by the clock of the database, not of its process', async () => {
  const id = await queue('clock.com', 'routine');
  const job = await claim(id);
  const realNow = Date.now;
  Date.now = () => realNow() - 40 * 86_400_000;
  try {
    expect(await jobs[0].end(job, 'failed', 'late')).toBe(true);
  } finally {
    Date.now = realNow;
  }
  const text = `SELECT finished_at > now() - interval '1 hour' AS is_recent FROM scan_jobs WHERE id = $1`;
  expect(await pools[0].query(text, [id])).toEqual([{ is_recent: true }]);
});

test('a retry counts as an attempt, a postponement does not, and neither is taken early or by its message', async () => {
  const id = await queue('c.com', 'routine');
  expect(await jobs[0].retry(await claim(id), 3_600_000, 'timed_out: x')).toBe(true);
  expect([await jobs[0].claim(id), await jobs[0].firstDue()]).toEqual([undefined, undefined]);
  expect(await jobs[0].counts()).toEqual({ open: 1, delayed: 1 });
  await expire(id);
  const second = await jobs[0].claimDue();
  expect(second).toMatchObject({ id, attempts: 2 });
  expect(second && (await jobs[0].putOff(second, 0))).toBe(true);
  expect(await jobs[0].claimDue()).toMatchObject({ id, attempts: 2 });
});

test('due requested jobs come first, each to one replica', async () => {
  for (let i = 0; i < 10; i += 1) await jobs[0].putOff(await claim(await queue(`routine-${i}.com`, 'routine')), 0);
  for (let i = 0; i < 10; i += 1) await jobs[0].putOff(await claim(await queue(`requested-${i}.com`)), 0);
  const order: ClaimedJob[] = [];
  // One after the other, because results of concurrent claims may arrive in any order.
  for (let next = await jobs[0].claimDue(); next !== undefined; next = await jobs[order.length % 2 === 0 ? 0 : 1].claimDue())
    order.push(next);
  expect(order.map(({ cause }) => cause)).toEqual([...Array<string>(10).fill('requested'), ...Array<string>(10).fill('routine')]);
  expect(new Set(order.map(({ id }) => id)).size).toBe(20);
});

test('due jobs that two replicas claim at once go to one replica each', async () => {
  for (let i = 0; i < 10; i += 1) await jobs[0].putOff(await claim(await queue(`due-${i}.com`)), 0);
  const taken: string[] = [];
  while ((await jobs[0].firstDue()) !== undefined) {
    const claimed = await Promise.all([jobs[0].claimDue(), jobs[1].claimDue()]);
    taken.push(...claimed.flatMap((job) => job?.id ?? []));
  }
  expect([taken.length, new Set(taken).size]).toEqual([10, 10]);
});

test('a job whose message never comes is taken without it', async () => {
  const id = await queue('d.com');
  expect(await jobs[0].claimDue()).toBeUndefined();
  await database.owner.execute(`UPDATE scan_jobs SET queued_at = now() - interval '61 minutes' WHERE id = $1`, [id]);
  expect(await jobs[0].firstDue()).toBe('requested');
  expect(await jobs[0].claimDue()).toMatchObject({ id });
  expect(await jobs[0].claim(id)).toBeUndefined();
});
