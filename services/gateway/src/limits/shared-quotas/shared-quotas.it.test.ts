import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { DayUsage } from '@vitrine/traces/day-usage';
import fc from 'fast-check';
import { PostgresQuotaGrants } from './postgres-quota-grants.ts';
import { scopeNames } from '../requests/request-counter.ts';
import { SharedQuotas } from './shared-quotas.ts';
import {
  DAY,
  daily,
  describeDailyQuotas,
  endedBy,
  NOON,
  usageOf,
  type TestQuotasOptions,
} from '../testing/daily-quotas-contract.ts';
import { InMemoryQuotaGrants, quotaKey } from '../testing/in-memory-quota-grants.ts';
import { describeUnknownUsage } from '../testing/unknown-usage-contract.ts';

const LEASE_MS = 10_000;
let database: TestDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await templateDatabase();
  pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
});
const reset = () => pool.query('TRUNCATE quota_reservations, day_usage');
beforeEach(reset);
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const one = scopeNames('org', 'ws', 'gk_1');
const usedUp = { code: 'KEY_DAILY_TOKENS_EXCEEDED', isUsedUp: true };
const reserved = { code: 'KEY_DAILY_TOKENS_EXCEEDED', isUsedUp: false };

const SUMS = ['requests', 'total_tokens', 'estimated_tokens', 'cost_usd', 'cost_upper_usd'] as const;
const COLUMNS = ['day', 'org_id', 'workspace_id', 'gateway_key_id', ...SUMS] as const;

async function store(rows: readonly DayUsage[]): Promise<void> {
  for (const row of rows)
    await pool.query(
      `INSERT INTO day_usage AS d (${COLUMNS.join(', ')}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (day, org_id, workspace_id, gateway_key_id) DO UPDATE
       SET ${SUMS.map((column) => `${column} = d.${column} + excluded.${column}`).join(', ')}`,
      COLUMNS.map((column) => row[column]),
    );
}

interface ProcessOptions extends Omit<TestQuotasOptions, 'stored'> {
  readonly of?: PostgresPool;
  readonly reportIntervalMs?: number;
}

function openProcess({ of = pool, reportIntervalMs = 3_600_000, ...options }: ProcessOptions = {}) {
  const errors: unknown[] = [];
  const time = { now: NOON, steady: 0 };
  const quotas = new SharedQuotas({
    grants: new PostgresQuotaGrants(of, LEASE_MS, options.countsUnknown),
    reportIntervalMs,
    leaseMs: LEASE_MS,
    clock: () => time.now,
    steadyClock: () => time.steady,
    onError: (error) => errors.push(error),
    ...options,
  });
  const use = (tokens: number) => {
    quotas.taken(endedBy('gk_1'));
    quotas.settled(1, [usageOf('gk_1', tokens)]);
  };
  const write = async (usage: readonly DayUsage[]) => {
    await store(usage);
    quotas.settled(0, usage);
  };
  const check = async (limit: number) => quotas.check(one, daily({ tokens: limit }));
  return { quotas, time, errors, use, write, check, [Symbol.asyncDispose]: () => quotas[Symbol.asyncDispose]() };
}

describe('shared quotas of one process', () => {
  const open = async ({ stored = [], ...options }: TestQuotasOptions) => {
    await reset();
    await store(stored);
    return openProcess(options);
  };
  describeDailyQuotas(open);
  describeUnknownUsage(open);
});

describe('shared quotas of several processes', () => {
  test('are used up once, whichever of them the requests reach', async () => {
    await using first = openProcess();
    await using second = openProcess();
    let used = 0;
    for (let i = 0; i < 100; i += 1) {
      for (const process of [first, second]) {
        if ((await process.check(1_000)) !== undefined) continue;
        process.use(30);
        used += 30;
      }
    }
    expect(used).toBeGreaterThanOrEqual(1_000);
    // One exchange of each process was in flight when the last one was admitted.
    expect(used).toBeLessThan(1_000 + 2 * 30);
    for (const process of [first, second]) {
      process.time.steady += LEASE_MS + 1;
      await process.check(1_000);
      expect(await process.check(1_000)).toEqual(usedUp);
    }
  });

  test('make no round trip while their reservations suffice, nor to reject when the quota is used up or reserved by others', async () => {
    await using first = openProcess();
    await using second = openProcess();
    expect(await first.check(6_400)).toBeUndefined();
    const before = pool.figures().statements;
    for (let i = 0; i < 99; i += 1) {
      first.use(1);
      expect(first.quotas.check(one, daily({ tokens: 6_400 }))).toBeUndefined();
    }
    expect(pool.figures().statements).toBe(before);
    await holdAll(6_400);
    expect(await second.check(6_400)).toEqual(reserved);
    first.use(6_301);
    expect(await first.check(6_400)).toEqual(usedUp);
    const after = pool.figures().statements;
    for (let i = 0; i < 5; i += 1) {
      expect(second.quotas.check(one, daily({ tokens: 6_400 }))).toEqual(reserved);
      expect(first.quotas.check(one, daily({ tokens: 6_400 }))).toEqual(usedUp);
    }
    expect(pool.figures().statements).toBe(after);
  });

  test('a key without a daily limit has no rows and makes no call', async () => {
    await using process = openProcess();
    const before = pool.figures().statements;
    process.use(5);
    expect(await process.quotas.check(one, daily({}))).toBeUndefined();
    await process.quotas[Symbol.asyncDispose]();
    expect(pool.figures().statements).toBe(before);
  });

  test('one that ends reports its usage and returns the rest', async () => {
    const process = openProcess();
    expect(await process.check(6_400)).toBeUndefined();
    process.use(10);
    expect(await rows()).toEqual([{ used: '0', allotted: '100' }]);
    await process.quotas[Symbol.asyncDispose]();
    expect(await rows()).toEqual([{ used: '10', allotted: '10' }]);
  });

  test('unused reservations move to the other with their reports', async () => {
    await using first = openProcess({ reportIntervalMs: 10 });
    await using second = openProcess({ reportIntervalMs: 10 });
    expect(await first.check(640)).toBeUndefined();
    let used = 0;
    const useAll = async () => {
      for (; (await second.check(640)) === undefined; used += 1) second.use(1);
      // A minute later the first process returns its reservation.
      first.time.steady = 61_000;
      return used === 640;
    };
    await waitUntil(useAll, { what: 'the second process to use all of it' });
    expect(await second.check(640)).toEqual(usedUp);
  });

  test('traces stored late are not counted twice, and unreported usage of a killed process counts once stored', async () => {
    await using first = openProcess();
    await using second = openProcess();
    expect(await first.check(1_000)).toBeUndefined();
    first.use(500);
    expect(await reported(first)).toBe(500);
    await store([usageOf('gk_1', 500)]);
    expect(await reported(second)).toBe(500);
    // The second process stores late, and the first one is killed before its next report.
    second.use(100);
    await store([usageOf('gk_1', 300)]);
    expect(await reported(second)).toBe(800);
    await store([usageOf('gk_1', 100)]);
    expect(await reported(second)).toBe(900);
  });

  test('without the database they use up their reservations; then the check is unavailable until it is back', async () => {
    await using proxy = await openTcpProxy(database.dsn);
    await using behind = new PostgresPool({ dsn: proxy.dsn, applicationName: 'behind', connectTimeoutMs: 500 });
    await using process = openProcess({ of: behind });
    expect(await process.check(6_400)).toBeUndefined();
    await proxy.close();
    for (let i = 0; i < 99; i += 1) {
      process.use(1);
      expect(await process.check(6_400)).toBeUndefined();
    }
    process.use(1);
    expect(await process.check(6_400)).toBe('unavailable');
    expect(process.errors).toHaveLength(1);
    expect(await process.check(100)).toEqual(usedUp);
    await proxy.open();
    process.time.steady = 2 * 3_600_000;
    expect(await process.check(6_400)).toBeUndefined();
    await proxy.close();
    process.time.steady += LEASE_MS + 1;
    expect(await process.check(6_400)).toBe('unavailable');
  });

  /** Another process has reserved the free part. */
  async function holdAll(limit: number): Promise<void> {
    const report = { name: one.key, unit: 'tokens' as const, limit, used: 0, held: 0, wanted: limit };
    await new PostgresQuotaGrants(pool, LEASE_MS).report({ process: crypto.randomUUID(), day: DAY }, 1, [report]);
  }

  /** The usage at which a quota is used up, as a report returns it to the process. */
  async function reported(process: ReturnType<typeof openProcess>): Promise<number> {
    for (let used = 0; used < 2_000; used += 100) {
      process.time.steady += LEASE_MS + 1;
      await process.check(used + 1);
      if (JSON.stringify(await process.check(used + 1)) !== JSON.stringify(usedUp)) return used;
    }
    throw new Error('no limit is large enough');
  }
});

const rows = () => pool.query('SELECT used, allotted FROM quota_reservations ORDER BY process');

describe('the SQL of quotas', () => {
  const report = fc.record({
    process: fc.nat(2),
    name: fc.constantFrom(one.key, one.workspace, scopeNames('org', 'ws', 'gk_2').key),
    unit: fc.constantFrom('tokens' as const, 'picoUsd' as const),
    sequence: fc.integer({ min: 1, max: 30 }),
    limit: fc.integer({ min: 0, max: 60 }),
    used: fc.nat(10),
    more: fc.tuple(fc.nat(5), fc.nat(30)),
    stored: fc.nat(3),
  });

  test('behaves like its in-memory model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 10, maxLength: 60, size: 'max' }), async (reports) => {
        await reset();
        const model = new InMemoryQuotaGrants(LEASE_MS, () => 0);
        const ids = [0, 1, 2].map(() => crypto.randomUUID());
        const grants = new PostgresQuotaGrants(pool, LEASE_MS);
        for (const { process, name, unit, sequence, limit, used, more, stored } of reports) {
          const key = name.split('\n')[2] ?? 'gk_1';
          await store([usageOf(key, stored, stored / 1e12)]);
          for (const scope of [`org\nws\n${key}`, 'org\nws'])
            for (const each of ['tokens', 'picoUsd'] as const) {
              const quota = quotaKey(DAY, { name: scope, unit: each });
              model.stored.set(quota, (model.stored.get(quota) ?? 0) + stored);
            }
          const sent = [{ name, unit, limit, used, held: used + more[0], wanted: used + more[0] + more[1] }];
          const reporter = { process: ids[process] ?? '', day: DAY };
          expect(await grants.report(reporter, sequence, sent)).toEqual(await model.report(reporter, sequence, sent));
        }
      }),
      { numRuns: 20 },
    );
  });

  const sent = { name: 'org\nws', unit: 'tokens' as const, limit: 10, used: 1, held: 1, wanted: 7 };
  const reporter = () => ({ process: crypto.randomUUID(), day: DAY });

  test('unused reservations of a process are returned when it has not reported for the lease', async () => {
    const grants = new PostgresQuotaGrants(pool, 2_000);
    const serverStarted = () => pool.query('SELECT 1 WHERE pg_postmaster_start_time() < now() - interval $$3 s$$');
    await waitUntil(async () => (await serverStarted()).length > 0, { what: 'the server to be older than the lease' });
    const [first, second] = [reporter(), reporter()];
    const other = { ...sent, used: 0, held: 0, wanted: 20 };
    await grants.report(first, 1, [sent]);
    expect(await grants.report(second, 1, [other])).toEqual([{ allotted: 3, reported: 1, stored: 0, processes: 2 }]);
    await pool.query("UPDATE quota_reservations SET reported_at = now() - interval '2.1 s' WHERE process = $1", [first.process]);
    expect(await grants.report(second, 2, [other])).toEqual([{ allotted: 9, reported: 1, stored: 0, processes: 1 }]);
  });

  test('quotas of any size are counted', async () => {
    const grants = new PostgresQuotaGrants(pool, LEASE_MS);
    const large = {
      name: one.key,
      unit: 'picoUsd' as const,
      limit: Number.POSITIVE_INFINITY,
      used: 1e24,
      held: 1e24,
      wanted: 1e24 + 1e15,
    };
    expect(await grants.report(reporter(), 1, [large])).toEqual([
      { allotted: 1e24 + 1e15, reported: 1e24, stored: 0, processes: 1 },
    ]);
  });

  test('the role of the gateway may report and remove', async () => {
    const result = await pool.transaction(async (transaction) => {
      await transaction.query('SET LOCAL ROLE vitrine_gateway');
      await transaction.query('SELECT remove_old_quota_reservations()');
      return transaction.query(
        `SELECT allotted FROM report_quota_usage(gen_random_uuid(), 1, '${DAY}', 10000, ARRAY['a'], ARRAY['tokens'], ARRAY[10], ARRAY[0],
           ARRAY[0], ARRAY[4])`,
      );
    });
    expect(result).toEqual([{ allotted: '4' }]);
  });

  test('rows of past days are removed', async () => {
    const grants = new PostgresQuotaGrants(pool, LEASE_MS);
    const days = [1, 30].map((hours) => new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 10));
    for (const day of [new Date().toISOString().slice(0, 10), ...days]) await grants.report({ ...reporter(), day }, 1, [sent]);
    const left = async () => (await pool.query('SELECT DISTINCT day FROM quota_reservations')).length;
    const before = await left();
    await grants.removeOld();
    expect(await left()).toBe(before - 1);
  });
});
