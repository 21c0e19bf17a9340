import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import type { ScanCause } from '@vitrine/stores/scans/queue-scans';
import { storeDatabase, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { createLogger } from '@vitrine/telemetry/logger';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { RunResult } from './jobs/job-runner.ts';
import type { ClaimedJob } from './jobs/scan-jobs.ts';
import { HostRateLimiter } from './politeness/host-rate-limiter.ts';
import { createRunScan, type RunScanTools } from './run-scan.ts';
import type { ScanAttempt } from './scan/scan-ports.ts';
import { queueTestScans, startTestQueue } from './testing/start-test-queue.ts';
import { commitFirst, describeAsDemo, testCapture } from './testing/test-capture.ts';

const SLOW_MS = 120_000;
let database: StoreDatabase;
let api: PostgresPool;
beforeAll(async () => {
  database = await storeDatabase();
  api = database.as('vitrine_store_api');
  await importVocabulary(api, VOCABULARY);
});
afterAll(async () => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.owner.query(
    'TRUNCATE stores, observations, signals, scan_jobs, analyses, outbox, domain_denylist, request_turns CASCADE',
  );
});

const eventually = <T>(what: string, check: () => T | undefined | false | Promise<T | undefined | false>) =>
  waitUntil(check, { what, timeoutMs: SLOW_MS });
const jobOf = async (domain: string) =>
  (await database.owner.query('SELECT * FROM scan_jobs WHERE domain = $1 ORDER BY queued_at DESC LIMIT 1', [domain]))[0];
const statusBecomes = (domain: string, status: string) =>
  eventually(`${domain} ${status}`, async () => (await jobOf(domain))?.['status'] === status);
const count = async (table: string) => {
  const [row] = await database.owner.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`);
  return row?.n;
};
/** Runs whose ends the test decides, one after the other. */
function heldRuns() {
  const order: string[] = [];
  const open: ((result: RunResult) => void)[] = [];
  const run = (job: ClaimedJob) => {
    order.push(job.domain);
    return new Promise<RunResult>((resolve) => open.push(resolve));
  };
  const end = () => eventually('a run', () => open.shift()).then((resolve) => resolve(BLOCKED));
  return { order, run, end };
}
const BLOCKED: ScanAttempt = { outcome: 'blocked', reason: 'challenged', detail: 'test' };
const scanWith = (changes: Partial<RunScanTools>) => (pool: PostgresPool) =>
  createRunScan({
    pool,
    turns: new HostRateLimiter(pool),
    scanStorefront: async (domain) => testCapture(domain),
    describe: describeAsDemo,
    commit: commitFirst,
    cadenceMs: 86_400_000,
    onCommit: () => {},
    logger: createLogger('test', 'silent', { write: () => true }),
    ...changes,
  });

test('a queued scan produces an observation and a profile, and ends its job and analysis, once', async () => {
  const ids = await queueTestScans(api, ['a.com']);
  const analysis = `INSERT INTO analyses (id, domain, scan_job_id, created_at) VALUES ('ana_1', 'a.com', $1, now())`;
  await database.owner.execute(analysis, [ids.get('a.com')]);
  await using replica = startTestQueue(database, scanWith({}));
  await statusBecomes('a.com', 'completed');
  expect(await jobOf('a.com')).toMatchObject({ attempts: 1, error: null, id: ids.get('a.com') });
  const [store] = await database.owner.query(`SELECT profile IS NOT NULL AS profile, next_scan_at > now() AS later FROM stores`);
  expect([store, await count('observations')]).toEqual([{ profile: true, later: true }, 1]);
  expect(await database.owner.query('SELECT status FROM analyses')).toEqual([{ status: 'completed' }]);
  await eventually('its end', () => replica.ends.length === 1);
  expect(replica.ends[0]?.result).toBe('completed');
});

test('a queue whose jobs cannot be written waits and reports why until they can', async () => {
  await database.owner.execute('REVOKE UPDATE ON scan_jobs FROM vitrine_enrich');
  await using started = startTestQueue(database, scanWith({}));
  try {
    await eventually('the wait', () =>
      started.log.some((line) => line.includes('"msg":"waiting for the database"') && line.includes('scan_jobs')),
    );
    expect(started.queue.hasReachedDatabase).toBe(false);
  } finally {
    await database.owner.execute('GRANT UPDATE ON scan_jobs TO vitrine_enrich');
  }
  await eventually('the database', () => started.queue.hasReachedDatabase);
});

test('held and withdrawn signals of a commit are counted, and the start of a hold is logged with its technologies', async () => {
  await queueTestScans(api, ['held.com', 'usual.com']);
  const counted = new Set<string>();
  const lines: string[] = [];
  const removal = { type: 'technology_removed' };
  const changes = { signals: [], held: [removal], holds: ['loox'], withdrawn: [removal, removal] };
  const run = scanWith({
    commit: async (transaction, completed) => {
      const committed = await commitFirst(transaction, completed);
      return completed.facts.domain === 'held.com' ? { ...committed, ...changes } : committed;
    },
    onCommit: (_, { held, withdrawn }) => counted.add(`${held.length} held, ${withdrawn.length} withdrawn`),
    logger: createLogger('test', 'info', { write: (line) => lines.push(line) }),
  });
  await using _ = startTestQueue(database, run);
  await statusBecomes('held.com', 'completed');
  await statusBecomes('usual.com', 'completed');
  await eventually('both counted', () => counted.size === 2);
  expect(counted).toEqual(new Set(['0 held, 0 withdrawn', '1 held, 2 withdrawn']));
  const logged = await eventually('the line', () => lines.length > 0 && lines.map((line) => JSON.parse(line) as unknown));
  expect(logged).toMatchObject([{ msg: 'removals of technologies held', technologies: ['loox'], domain: 'held.com' }]);
});

test('failed passes of evidence removal are counted, and the scanner continues', async () => {
  await database.owner.query('REVOKE UPDATE ON observations FROM vitrine_enrich');
  try {
    await using replica = startTestQueue(database, scanWith({}));
    await eventually('the failure', () => replica.queue.figures.routine?.cleanUpFailures === 1);
    await queueTestScans(api, ['a.com']);
    await statusBecomes('a.com', 'completed');
  } finally {
    await database.owner.query('GRANT UPDATE (evidence) ON observations TO vitrine_enrich');
  }
});

describe('a failed attempt', () => {
  test.each<[string, ScanAttempt, string, number]>([
    ['that was challenged', BLOCKED, 'blocked', 1],
    ['that robots.txt denies', { outcome: 'blocked', reason: 'robots_denied', detail: '/' }, 'blocked', 1],
    ['that was throttled each time', { outcome: 'blocked', reason: 'throttled', detail: '429' }, 'blocked', 3],
    ['that timed out each time', { outcome: 'failed', reason: 'timed_out', detail: 'no response' }, 'failed', 3],
  ])('%s changes nothing but its job', async (_, attempt, status, attempts) => {
    await queueTestScans(api, ['b.com']);
    await using replica = startTestQueue(database, scanWith({ scanStorefront: async () => attempt }));
    await statusBecomes('b.com', status);
    const { reason, detail } = attempt as Extract<ScanAttempt, { reason: string }>;
    expect(await jobOf('b.com')).toMatchObject({ attempts, error: `${reason}: ${detail}` });
    for (const table of ['stores', 'observations', 'signals']) expect([table, await count(table)]).toEqual([table, 0]);
    expect(replica.ends.slice(0, -1).every(({ result }) => result === 'retried')).toBe(true);
  });

  test('that throws is tried again, and fails in the end', async () => {
    await queueTestScans(api, ['c.com']);
    const failing = () => Promise.reject(new TypeError('a bug'));
    await using replica = startTestQueue(database, scanWith({ scanStorefront: failing }));
    await statusBecomes('c.com', 'failed');
    expect(await jobOf('c.com')).toMatchObject({ attempts: 3, error: 'internal: a bug' });
    expect(replica.log.filter((line) => line.includes('scan failed unexpectedly'))).toHaveLength(3);
  });

  test('for a domain put on the denylist after it was queued is blocked without a request', async () => {
    await queueTestScans(api, ['d.com']);
    await api.execute(`INSERT INTO domain_denylist (domain, reason) VALUES ('d.com', 'asked for it')`);
    let requests = 0;
    const scanStorefront: RunScanTools['scanStorefront'] = async () => ((requests += 1), BLOCKED);
    await using _replica = startTestQueue(database, scanWith({ scanStorefront }));
    await statusBecomes('d.com', 'blocked');
    expect([requests, (await jobOf('d.com'))?.['error']]).toEqual([0, 'denylisted: the domain is on the denylist']);
  });

  test('that no process finished fails after the same number of leases', async () => {
    await queueTestScans(api, ['e.com']);
    await database.owner.execute(
      `UPDATE scan_jobs SET status = 'running', lease_id = 'dead', attempts = 3, due_at = now() - interval '1 s'`,
    );
    await using _replica = startTestQueue(database, scanWith({}));
    await statusBecomes('e.com', 'failed');
    expect(await jobOf('e.com')).toMatchObject({ error: 'internal: no process finished this scan' });
    expect(await count('observations')).toBe(0);
  });
});

test('a postponed scan is retried without counting an attempt', async () => {
  await queueTestScans(api, ['f.com']);
  let asked = 0;
  const scanStorefront: RunScanTools['scanStorefront'] = async (domain) =>
    (asked += 1) < 4 ? { outcome: 'delayed', retryAfterMs: 1 } : testCapture(domain);
  await using replica = startTestQueue(database, scanWith({ scanStorefront }));
  await statusBecomes('f.com', 'completed');
  expect(await jobOf('f.com')).toMatchObject({ attempts: 1 });
  await eventually('all ends', () => replica.ends.length === 4);
  expect(replica.ends.map(({ result }) => result)).toEqual(['put_off', 'put_off', 'put_off', 'completed']);
});

test('requested scans run before routine ones, however many of those wait', async () => {
  const { order, run, end } = heldRuns();
  const domains = (cause: ScanCause) => Array.from({ length: 12 }, (_, i) => `${cause}-${i}.com`);
  await queueTestScans(api, domains('routine'), 'routine');
  await using replica = startTestQueue(database, () => run, { SCAN_CONCURRENCY: '1' });
  await eventually('the first routine scan', () => order.length === 1);
  await queueTestScans(api, domains('requested'));
  for (let i = 1; i <= 12; i += 1) {
    await eventually('a requested scan in line', () => (replica.queue.figures.waiting.get('requested') ?? 0) > 0);
    await end();
    await eventually(`run ${i}`, () => order.length === i + 1);
  }
  const causes = order.map((domain) => domain.replace(/-.*/, ''));
  expect(causes).toEqual(['routine', ...Array<string>(12).fill('requested')]);
  while (order.length < 24) {
    const runs = order.length;
    await end();
    await eventually('the next run', () => order.length > runs);
  }
  expect(new Set(order).size).toBe(24);
  await end();
});

test('at most the configured number of scans run at once', async () => {
  const { order, run, end } = heldRuns();
  await queueTestScans(
    api,
    Array.from({ length: 9 }, (_, i) => `shop-${i}.com`),
  );
  await using replica = startTestQueue(database, () => run, { SCAN_CONCURRENCY: '3' });
  const { figures } = replica.queue;
  expect(figures.slots).toBe(3);
  for (let ended = 0; ended < 9; ended += 1) {
    await eventually('as many as there may be', () => order.length === Math.min(9, ended + 3));
    expect(replica.queue.figures.inFlight).toBeLessThanOrEqual(3);
    await end();
  }
});

test('a stopping process requeues its running scans, and another one runs them', async () => {
  await queueTestScans(api, ['g.com', 'h.com']);
  const untilAborted = (_domain: string, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));
  const first = startTestQueue(database, scanWith({ scanStorefront: untilAborted }));
  await Promise.all([statusBecomes('g.com', 'running'), statusBecomes('h.com', 'running')]);
  await first.queue.stop();
  expect(first.ends.map(({ result }) => result)).toEqual(['handed_back', 'handed_back']);
  expect(await jobOf('g.com')).toMatchObject({ status: 'queued', attempts: 0, lease_id: null });
  await using _second = startTestQueue(database, scanWith({}));
  await Promise.all([statusBecomes('g.com', 'completed'), statusBecomes('h.com', 'completed')]);
  expect(await jobOf('h.com')).toMatchObject({ attempts: 1 });
});

test('a job whose claim is in progress when its process stops is also requeued', async () => {
  await queueTestScans(api, ['j.com']);
  const { run } = heldRuns();
  const first = startTestQueue(database, () => run);
  // Claims wait for the row.
  await database.owner.transaction(async (transaction) => {
    await transaction.query(`SELECT FROM scan_jobs WHERE domain = 'j.com' FOR UPDATE`);
    await eventually('a slot for it', () => first.queue.figures.inFlight === 1);
    void first.queue.stop();
  });
  await first.queue.stop();
  expect(await jobOf('j.com')).toMatchObject({ status: 'queued', attempts: 0 });
});

test('a scan whose lease another process has taken writes nothing, however late it completes', async () => {
  await queueTestScans(api, ['i.com']);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const slow: RunScanTools['scanStorefront'] = async (domain) => {
    await held;
    return testCapture(domain);
  };
  await using first = startTestQueue(database, scanWith({ scanStorefront: slow }));
  await statusBecomes('i.com', 'running');
  await using second = startTestQueue(database, scanWith({}));
  await database.owner.execute(`UPDATE scan_jobs SET due_at = now() - interval '1 s'`);
  // Either of the two may take it again.
  await eventually('the job to be taken again', async () => Number((await jobOf('i.com'))?.['attempts']) >= 2);
  release();
  await statusBecomes('i.com', 'completed');
  await eventually('both ends', () => [...first.ends, ...second.ends].length >= 2);
  expect([...first.ends, ...second.ends].map(({ result }) => result).toSorted()).toEqual(['completed', 'lost']);
  expect(await count('observations')).toBe(1);
});
