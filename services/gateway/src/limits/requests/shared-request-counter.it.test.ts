import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import fc from 'fast-check';
import { PostgresAllotmentLedger } from '../shared-quotas/postgres-allotment-ledger.ts';
import { scopeNames, type RateResult } from './request-counter.ts';
import { SharedRequestCounter } from './shared-request-counter.ts';
import { InMemoryAllotmentLedger } from '../testing/in-memory-allotment-ledger.ts';
import { describeRequestCounter } from '../testing/request-counter-contract.ts';

const TIMES = { windowMs: 60_000, leaseMs: 10_000 };
let database: TestDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await templateDatabase();
  pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
});
beforeEach(async () => void (await pool.query('TRUNCATE rate_allotments')));
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const one = scopeNames('org', 'ws', 'gk_1');
const passedOf = (results: readonly RateResult[]) => results.filter((result) => result === undefined).length;
const requests = (counter: SharedRequestCounter, count: number, limit: number, names = one) =>
  Promise.all(Array.from({ length: count }, async () => counter.admit(names, { key: limit, workspace: 0 })));

interface CounterOptions {
  readonly of?: PostgresPool;
  readonly clock?: () => number;
  readonly maxWindows?: number | undefined;
  readonly reportIntervalMs?: number;
}

function openCounter({ of = pool, clock = () => performance.now(), maxWindows, reportIntervalMs = 3_600_000 }: CounterOptions) {
  const errors: unknown[] = [];
  const counter = new SharedRequestCounter({
    ledger: new PostgresAllotmentLedger(of, TIMES),
    clock,
    onError: (error) => errors.push(error),
    ...TIMES,
    reportIntervalMs,
    ...(maxWindows === undefined ? {} : { maxWindows }),
  });
  return Object.assign(counter, { errors });
}

describe('a single shared counter', () => {
  describeRequestCounter(async (maxWindows) => {
    await pool.query('TRUNCATE rate_allotments');
    const time = { now: 0 };
    const counter = openCounter({ clock: () => time.now, maxWindows });
    return { counter, time, [Symbol.asyncDispose]: () => counter[Symbol.asyncDispose]() };
  });
});

describe('counters of several processes', () => {
  test('admit a limit once, whichever of them the requests reach', async () => {
    await using first = openCounter({});
    await using second = openCounter({});
    const results = await Promise.all([requests(first, 300, 100), requests(second, 300, 100)]);
    expect(passedOf(results.flat())).toBe(100);
  });

  test('make no round trip while their allotments suffice', async () => {
    await using counter = openCounter({});
    expect(passedOf(await requests(counter, 1, 10_000))).toBe(1);
    const before = pool.figures().statements;
    for (let i = 0; i < 100; i += 1) expect(counter.admit(one, { key: 10_000, workspace: 0 })).toBeUndefined();
    expect(pool.figures().statements).toBe(before);
  });

  test('nor to reject requests over the limit, however it is divided', async () => {
    await using first = openCounter({});
    await using second = openCounter({});
    expect(passedOf(await requests(first, 20, 10))).toBe(10);
    expect(await second.admit(one, { key: 10, workspace: 0 })).toMatchObject({ scope: 'key' });
    const before = pool.figures().statements;
    for (const counter of [first, second]) expect(counter.admit(one, { key: 10, workspace: 0 })).toMatchObject({ scope: 'key' });
    expect(pool.figures().statements).toBe(before);
  });

  test('unused allotments move to the other with their reports', async () => {
    await using first = openCounter({ reportIntervalMs: 20 });
    await using second = openCounter({ reportIntervalMs: 20 });
    // It reserves some requests ahead.
    expect(passedOf(await requests(first, 1, 640))).toBe(1);
    await waitUntil(async () => passedOf(await requests(second, 639, 640)) > 0 && (await allotted()) === 640, {
      what: 'everything to be allotted',
    });
    await waitUntil(async () => (await usedOf()) === 640 || passedOf(await requests(second, 1, 640)) > 1, {
      what: 'all 640 requests to be admitted',
    });
    expect(passedOf([...(await requests(first, 5, 640)), ...(await requests(second, 5, 640))])).toBe(0);
  });

  test('one that ends returns its unused allotment', async () => {
    const first = openCounter({});
    await requests(first, 10, 6_400);
    expect(await allotted()).toBeGreaterThan(100);
    await first[Symbol.asyncDispose]();
    expect(await allotted()).toBe(10);
  });

  test('without the database they use up their allotments; then the check is unavailable until it is back', async () => {
    await using proxy = await openTcpProxy(database.dsn);
    await using behind = new PostgresPool({ dsn: proxy.dsn, applicationName: 'behind', connectTimeoutMs: 500 });
    const time = { now: 0 };
    await using counter = openCounter({ of: behind, clock: () => time.now });
    expect(passedOf(await requests(counter, 1, 6_400))).toBe(1);
    await proxy.close();
    expect(passedOf(await requests(counter, 100, 6_400))).toBe(100);
    expect(await counter.admit(one, { key: 6_400, workspace: 0 })).toBe('unavailable');
    expect(counter.errors).toHaveLength(1);
    time.now = 10_001;
    expect(await counter.admit(scopeNames('org', 'ws', 'gk_2'), { key: 5, workspace: 0 })).toBe('unavailable');
    await proxy.open();
    time.now = 3_600_000 * 2;
    expect(await counter.admit(one, { key: 6_400, workspace: 0 })).toBeUndefined();
  });

  test('a database that does not respond delays a request by a second at most', async () => {
    await using proxy = await openTcpProxy(database.dsn);
    await using behind = new PostgresPool({ dsn: proxy.dsn, applicationName: 'behind', statementTimeoutMs: 100 });
    const counter = openCounter({ of: behind });
    expect(passedOf(await requests(counter, 1, 5))).toBe(1);
    proxy.freeze();
    const startedAt = performance.now();
    expect(await counter.admit(one, { key: 5, workspace: 0 })).toBe('unavailable');
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await proxy.close();
    await counter[Symbol.asyncDispose]();
  });

  const allotted = async () =>
    (await pool.query<{ sum: number }>('SELECT coalesce(sum(allotted), 0) AS sum FROM rate_allotments'))[0]?.sum ?? 0;
  const usedOf = async () =>
    (await pool.query<{ sum: number }>('SELECT coalesce(sum(used), 0) AS sum FROM rate_allotments'))[0]?.sum ?? 0;
});

describe('the SQL of allotments', () => {
  const report = fc.record({
    process: fc.nat(2),
    name: fc.constantFrom('a', 'b'),
    sequence: fc.integer({ min: 1, max: 30 }),
    limit: fc.integer({ min: 0, max: 40 }),
    used: fc.nat(10),
    more: fc.tuple(fc.nat(5), fc.nat(30), fc.nat(30)),
  });

  test('behaves like its in-memory model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 10, maxLength: 60, size: 'max' }), async (reports) => {
        await pool.query('TRUNCATE rate_allotments');
        const model = new InMemoryAllotmentLedger(TIMES);
        const processes = [0, 1, 2].map(() => new PostgresAllotmentLedger(pool, TIMES));
        for (const { process, name, sequence, limit, used, more } of reports) {
          const [held, most] = [used + more[0], used + more[1]];
          const sent = [{ name, limit, held, used, most, wanted: most + more[2] }];
          const ledger = processes[process] as PostgresAllotmentLedger;
          expect(withoutOrder(await ledger.report(sequence, sent))).toEqual(
            withoutOrder(model.report(String(process), sequence, sent, 0)),
          );
        }
      }),
      { numRuns: 20 },
    );
  });

  test('rows of processes that stopped reporting count until lease and window are over', async () => {
    const [first, second] = [new PostgresAllotmentLedger(pool, TIMES), new PostgresAllotmentLedger(pool, TIMES)];
    const sent = [{ name: 'a', limit: 10, held: 0, used: 0, most: 6, wanted: 6 }];
    const age = (ms: number) =>
      pool.query(`UPDATE rate_allotments SET reported_at = now() - interval '${ms} ms' WHERE wanted = 6`);
    const later = [{ ...(sent[0] as (typeof sent)[0]), most: 10, wanted: 10 }];
    await first.report(1, sent);
    await age(9_000);
    expect(await second.report(1, later)).toMatchObject([{ allotted: 4, unreported: 0, demands: { length: 2 } }]);
    await age(10_100);
    expect(await second.report(2, later)).toEqual([{ allotted: 4, unreported: 6, demands: [10], position: 0 }]);
    await age(69_000);
    expect(await second.report(3, later)).toMatchObject([{ allotted: 4 }]);
    await age(70_100);
    expect(await second.report(4, later)).toEqual([{ allotted: 10, unreported: 0, demands: [10], position: 0 }]);
  });

  test('the role of the gateway may report and remove', async () => {
    const rows = await pool.transaction(async (transaction) => {
      await transaction.query('SET LOCAL ROLE vitrine_gateway');
      await transaction.query('SELECT remove_expired_allotments(70000)');
      return transaction.query(`SELECT allotted FROM report_rate_allotments(gen_random_uuid(), 1, 60000, 10000,
        ARRAY['a'], ARRAY[10], ARRAY[0], ARRAY[0], ARRAY[4], ARRAY[5])`);
    });
    expect(rows).toEqual([{ allotted: 4 }]);
  });

  test('rows are removed when they no longer count', async () => {
    const ledger = new PostgresAllotmentLedger(pool, TIMES);
    await ledger.report(1, [{ name: 'a', limit: 10, held: 0, used: 0, most: 1, wanted: 1 }]);
    const count = async () => (await pool.query('SELECT 1 FROM rate_allotments')).length;
    await ledger.removeExpired();
    expect(await count()).toBe(1);
    await pool.query("UPDATE rate_allotments SET reported_at = now() - interval '71 s'");
    await ledger.removeExpired();
    expect(await count()).toBe(0);
  });

  /** The ids of processes, and with them their order, are random. */
  const withoutOrder = (allotments: Awaited<ReturnType<PostgresAllotmentLedger['report']>>) =>
    allotments.map(
      (found) => found && { ...found, demands: found.demands.toSorted((a, b) => a - b), position: found.demands[found.position] },
    );
});
