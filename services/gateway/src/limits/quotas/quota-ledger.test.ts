import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import type { DayUsage } from '@vitrine/traces/day-usage';
import fc from 'fast-check';
import { scopeNames } from '../requests/request-counter.ts';
import { DAY, describeDailyQuotas, NOON, type TestQuotasOptions } from '../testing/daily-quotas-contract.ts';
import { describeUnknownUsage } from '../testing/unknown-usage-contract.ts';
import { DayAccounts } from './day-accounts.ts';
import { keepTotalsFresh, QuotaLedger } from './quota-ledger.ts';

/** Two keys of one workspace, and one of another. */
const SCOPES = [
  ['a', 'gk_1'],
  ['a', 'gk_2'],
  ['b', 'gk_3'],
] as const;

const namesOf = (scope: number) => scopeNames('org', SCOPES[scope]?.[0] ?? '', SCOPES[scope]?.[1] ?? '');
const exchangeScope = (scope: number) => ({
  org_id: 'org',
  workspace_id: SCOPES[scope]?.[0] ?? '',
  gateway_key_id: SCOPES[scope]?.[1] ?? '',
  role: 'developer',
});
const usageOf = (scope: number, tokens: number, day = DAY): DayUsage => ({
  day,
  org_id: 'org',
  workspace_id: SCOPES[scope]?.[0] ?? '',
  gateway_key_id: SCOPES[scope]?.[1] ?? '',
  requests: 1,
  total_tokens: tokens,
  estimated_tokens: 0,
  cost_usd: 0,
  cost_upper_usd: 0,
});

const taken = (scope: number, outcome: 'completed' | 'rejected' = 'completed') => ({ scope: exchangeScope(scope), outcome });

/** A ledger with stopped clocks, over a store whose reads the test resolves. */
function setUp(rows: () => readonly DayUsage[] = () => []) {
  const time = { now: NOON, steady: 0 };
  const failures: unknown[] = [];
  const reads: { day: string; resolve: (rows: readonly DayUsage[]) => void; fail: () => void }[] = [];
  const ledger = new QuotaLedger({
    totals: (day) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly DayUsage[]>();
      reads.push({ day, resolve, fail: () => reject(new Error('no store')) });
      return promise;
    },
    clock: () => time.now,
    steadyClock: () => time.steady,
    onFailedRead: (error) => failures.push(error),
  });
  const read = async () => {
    const reading = ledger.read();
    reads.at(-1)?.resolve(rows());
    await reading;
  };
  const tokens = (scope: number) => {
    const accounts = ledger.accountsOf(namesOf(scope));
    if (accounts === undefined) return undefined;
    const { key, workspace } = accounts;
    return [key, workspace].map(({ own, others }) => own.tokens + others.tokens);
  };
  return { ledger, time, reads, failures, read, tokens };
}

describe('the quota ledger', () => {
  test('adds the usage of written batches to the stored totals, for the key and for its workspace', async () => {
    const { ledger, read, tokens } = setUp(() => [usageOf(0, 100), usageOf(1, 10)]);
    await read();
    ledger.taken(taken(0));
    ledger.settled(1, [usageOf(0, 7)]);
    expect([0, 1, 2].map(tokens)).toEqual([
      [107, 117],
      [10, 117],
      [0, 0],
    ]);
  });

  test('counts money in whole trillionths of a dollar', async () => {
    const { ledger, read } = setUp();
    await read();
    for (let i = 0; i < 10; i += 1) ledger.settled(0, [{ ...usageOf(0, 1), cost_upper_usd: 4.1 }]);
    expect(ledger.accountsOf(namesOf(0))?.key.own.picoUsd).toBe(41e12);
    // A cached token at 0.0375 dollars a million: its half of a billionth counts too.
    for (let i = 0; i < 10; i += 1) ledger.settled(0, [{ ...usageOf(0, 1), cost_upper_usd: 0.0000000375 }]);
    expect(ledger.accountsOf(namesOf(0))?.key.own.picoUsd).toBe(41e12 + 375_000);
  });

  test('is unavailable before the totals are read, and 15 s after the start of the last read', async () => {
    const { ledger, time, reads, read, tokens } = setUp();
    expect(tokens(0)).toBeUndefined();
    time.steady = 1_000;
    const reading = ledger.read();
    time.steady = 2_000;
    reads[0]?.resolve([]);
    await reading;
    time.steady = 16_000;
    expect(tokens(0)).toEqual([0, 0]);
    time.steady = 16_001;
    expect(tokens(0)).toBeUndefined();
    await read();
    expect(tokens(0)).toEqual([0, 0]);
  });

  test('a failed read is reported and changes nothing; one that hangs is abandoned after 10 s, and its late rows ignored', async () => {
    const { ledger, time, reads, failures, tokens } = setUp();
    const failing = ledger.read();
    reads[0]?.fail();
    await failing;
    expect(failures).toHaveLength(1);
    const hanging = ledger.read();
    time.steady = 9_999;
    await ledger.read();
    expect(reads).toHaveLength(2);
    time.steady = 10_000;
    const next = ledger.read();
    reads[1]?.resolve([usageOf(0, 999)]);
    await hanging;
    expect(tokens(0)).toBeUndefined();
    reads[2]?.resolve([usageOf(0, 5)]);
    await next;
    expect(tokens(0)).toEqual([5, 5]);
  });

  test('at midnight UTC the quotas reset, without a gap', async () => {
    const { ledger, time, reads, read, tokens } = setUp(() => [usageOf(0, 100)]);
    time.now = Date.parse('2026-03-01T23:59:59.999Z');
    await read();
    ledger.taken(taken(0));
    expect(tokens(0)).toEqual([100, 100]);
    time.now += 1;
    expect(tokens(0)).toEqual([0, 0]);
    // It ended yesterday.
    ledger.settled(1, [usageOf(0, 7, '2026-03-01'), usageOf(0, 1, '2026-03-02')]);
    expect(tokens(0)).toEqual([1, 1]);
    expect(ledger.accountsOf(namesOf(0))?.key.unsettled).toBe(0);
    const reading = ledger.read();
    expect(reads.at(-1)?.day).toBe('2026-03-02');
    reads.at(-1)?.resolve([usageOf(0, 5, '2026-03-02')]);
    await reading;
    expect(tokens(0)).toEqual([5, 5]);
  });

  test('totals of yesterday do not count for today', async () => {
    const { ledger, time, reads, tokens } = setUp();
    time.now = Date.parse('2026-03-01T23:59:59.999Z');
    const reading = ledger.read();
    time.now += 1;
    expect(tokens(0)).toBeUndefined();
    reads[0]?.resolve([usageOf(0, 5)]);
    await reading;
    expect(tokens(0)).toBeUndefined();
  });

  test('nor do totals that arrived while a batch was being written', async () => {
    const { ledger, time, read, tokens } = setUp();
    time.now = Date.parse('2026-03-01T23:59:59.999Z');
    ledger.taken(taken(0));
    await read();
    time.now += 1;
    ledger.settled(1, []);
    expect(tokens(0)).toBeUndefined();
  });

  test.each([
    ['forward by a day', 86_400_000],
    ['back by a day', -86_400_000],
    ['forward to an hour after midnight', 13 * 3_600_000],
  ])('after the clock was set %s the totals are read from the store', async (_, leapMs) => {
    const { time, reads, read, tokens } = setUp();
    await read();
    time.now += leapMs;
    expect(tokens(0)).toBeUndefined();
    const day = new Date(time.now).toISOString().slice(0, 10);
    expect(reads.at(-1)?.day).toBe(day);
    reads.at(-1)?.resolve([usageOf(0, 3, day)]);
    await Promise.resolve();
    await Promise.resolve();
    expect(tokens(0)).toEqual([3, 3]);
  });

  test('a midnight that repeats after the clock was set back loses no usage', async () => {
    const { ledger, time, reads, tokens, read } = setUp();
    time.now = Date.parse('2026-03-02T00:00:01Z');
    ledger.accountsOf(namesOf(0));
    reads.at(-1)?.resolve([]);
    await Promise.resolve();
    await read();
    time.now -= 2_000;
    expect(tokens(0)).toBeUndefined();
    expect(reads.at(-1)?.day).toBe('2026-03-01');
    reads.at(-1)?.resolve([usageOf(0, 4)]);
    await Promise.resolve();
    await Promise.resolve();
    expect(tokens(0)).toEqual([4, 4]);
    // The store contains the usage of the repeated second.
    time.now += 2_000;
    expect(tokens(0)).toBeUndefined();
    expect(reads.at(-1)?.day).toBe('2026-03-02');
    reads.at(-1)?.resolve([usageOf(0, 6, '2026-03-02')]);
    await Promise.resolve();
    await Promise.resolve();
    expect(tokens(0)).toEqual([6, 6]);
  });

  test('counts ended exchanges that are not settled, rejections aside, and releases dropped ones', async () => {
    const { ledger, read } = setUp();
    await read();
    for (const scope of [0, 1, 0]) ledger.taken(taken(scope));
    ledger.taken(taken(0, 'rejected'));
    const unsettled = () => [0, 1].map((scope) => ledger.accountsOf(namesOf(scope))?.key.unsettled);
    expect(unsettled()).toEqual([2, 1]);
    expect(ledger.accountsOf(namesOf(0))?.workspace.unsettled).toBe(3);
    ledger.settled(2, []);
    expect(unsettled()).toEqual([1, 0]);
    ledger.settled(2, []);
    expect(unsettled()).toEqual([0, 0]);
    expect(ledger.accountsOf(namesOf(0))?.workspace.unsettled).toBe(0);
  });

  test('a scope without an account is unavailable', () => {
    const accounts = new DayAccounts(DAY, { maxAccounts: 3 });
    accounts.add([usageOf(0, 5)]);
    accounts.read([usageOf(1, 5), usageOf(2, 5)]);
    expect([0, 1, 2].map((scope) => accounts.of(namesOf(scope))?.key.others.tokens)).toEqual([0, 5, undefined]);
  });

  test('totals are read at intervals', async () => {
    let reads = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const ledger = new QuotaLedger({
      totals: async () => {
        reads += 1;
        if (reads === 3) resolve();
        return [];
      },
      clock: () => NOON,
      steadyClock: () => 0,
      onFailedRead: () => {},
    });
    let checks = 0;
    const isNeeded = () => (checks += 1) > 5;
    using _fresh = keepTotalsFresh(ledger, isNeeded, 1);
    await promise;
    expect(checks - reads).toBe(5);
  });
});

/** Possible events between a process, its store, and other writers of the store. */
const STEPS = ['take', 'begin', 'commit', 'lose', 'end', 'other', 'read', 'look', 'finish'] as const;
type Step = { readonly kind: (typeof STEPS)[number]; readonly scope: number; readonly tokens: number };

const steps = (kinds: readonly Step['kind'][]) =>
  fc.array(fc.record({ kind: fc.constantFrom(...kinds), scope: fc.nat({ max: 2 }), tokens: fc.integer({ min: 1, max: 9 }) }), {
    maxLength: 80,
  });

/** Plays the steps: batches are committed row by row, the store is read in between, and reads end at any time. */
async function play(script: readonly Step[], check: (world: World) => void): Promise<World> {
  const { ledger, reads, tokens, read } = setUp(() => [usageOf(0, 50), usageOf(2, 20)]);
  const world: World = { stored: [50, 0, 20], others: [50, 0, 20], own: [0, 0, 0], tokens };
  await read();
  const waiting: Step[] = [];
  let batch: { rest: Step[]; count: number; usage: DayUsage[] } | undefined;
  let reading: { done: Promise<void>; seen: readonly number[] | undefined } | undefined;
  const rowsOf = (seen: readonly number[]) => seen.map((amount, scope) => usageOf(scope, amount));
  const add = (amounts: number[], { scope, tokens: amount }: Step) => (amounts[scope] = (amounts[scope] ?? 0) + amount);

  const commit = () => {
    const row = batch?.rest.shift();
    if (batch === undefined || row === undefined) return;
    add(world.stored, row);
    batch.usage.push(usageOf(row.scope, row.tokens));
  };
  const finish = async () => {
    reads.at(-1)?.resolve(rowsOf(reading?.seen ?? world.stored));
    await reading?.done;
    reading = undefined;
  };
  const end = () => {
    for (let left = batch?.rest.length ?? 0; left > 0; left -= 1) commit();
    for (const row of batch?.usage ?? []) add(world.own, { kind: 'end', scope: scopeIndex(row), tokens: row.total_tokens });
    if (batch !== undefined) ledger.settled(batch.count, batch.usage);
    batch = undefined;
  };
  const act = async (step: Step) => {
    switch (step.kind) {
      case 'take':
        waiting.push(step);
        return ledger.taken(taken(step.scope));
      case 'begin':
        if (batch !== undefined || waiting.length === 0) return;
        batch = { rest: waiting.splice(0, step.tokens), count: 0, usage: [] };
        batch.count = batch.rest.length;
        return;
      case 'commit':
        return commit();
      case 'lose':
        return void batch?.rest.shift();
      case 'end':
        return end();
      case 'other':
        add(world.stored, step);
        return void add(world.others, step);
      case 'read':
        reading ??= { done: ledger.read(), seen: undefined };
        return;
      case 'look':
        if (reading !== undefined) reading.seen ??= [...world.stored];
        return;
      case 'finish':
        return await finish();
      default:
        throw new Error(step.kind satisfies never);
    }
  };
  for (const step of script) {
    await act(step);
    check(world);
  }
  await finish();
  end();
  batch = { rest: waiting.splice(0), count: 0, usage: [] };
  batch.count = batch.rest.length;
  end();
  await read0(ledger, reads, rowsOf(world.stored));
  return world;
}

interface World {
  readonly stored: number[];
  readonly others: number[];
  /** Usage that this process has written and reported to the ledger. */
  readonly own: number[];
  readonly tokens: (scope: number) => number[] | undefined;
}

async function read0(ledger: QuotaLedger, reads: { resolve: (rows: readonly DayUsage[]) => void }[], rows: readonly DayUsage[]) {
  const reading = ledger.read();
  reads.at(-1)?.resolve(rows);
  await reading;
}

const scopeIndex = ({ gateway_key_id }: DayUsage) => SCOPES.findIndex(([, key]) => key === gateway_key_id);
/** Converts amounts by key to the ledger's figures: of the key and of its workspace. */
const figures = ([one = 0, two = 0, three = 0]: readonly number[]) => [
  [one, one + two],
  [two, one + two],
  [three, three],
];
const known = ({ tokens }: World) => [0, 1, 2].map((scope) => tokens(scope) ?? [Number.NaN]);
const sum = (left: readonly number[], right: readonly number[]) => left.map((amount, i) => amount + (right[i] ?? 0));

describe('the quota ledger under any order of batches, losses, reads and writes of others', () => {
  test('is always exact when no other process writes', async () => {
    const alone = STEPS.filter((kind) => kind !== 'other');
    await fc.assert(
      fc.asyncProperty(steps(alone), async (script) => {
        await play(script, (world) => expect(known(world)).toEqual(figures(sum(world.own, [50, 0, 20]))));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('never counts anything twice, never loses its own, and is exact after a read without concurrent writes', async () => {
    await fc.assert(
      fc.asyncProperty(steps(STEPS), async (script) => {
        const world = await play(script, (now) => {
          const most = figures(sum(now.own, now.others)).flat();
          const least = figures(sum(now.own, [50, 0, 20])).flat();
          const seen = known(now).flat();
          expect(seen.filter((amount, i) => !(amount <= (most[i] ?? 0) && amount >= (least[i] ?? 0)))).toEqual([]);
        });
        expect(known(world)).toEqual(figures(world.stored));
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

async function openQuotas({ stored = [], settlementWaitMaxMs, ...options }: TestQuotasOptions) {
  const time = { now: NOON };
  const quotas = new QuotaLedger({
    totals: async (day) => stored.filter((usage) => usage.day === day),
    clock: () => time.now,
    steadyClock: () => 0,
    onFailedRead: () => {},
    ...options,
    ...(settlementWaitMaxMs === undefined ? {} : { settlementWaitMaxMs }),
  });
  await quotas.read();
  const write = async (usage: readonly DayUsage[]) => quotas.settled(0, usage);
  return { quotas, write, time, [Symbol.asyncDispose]: async () => {} };
}

describe('quotas of one process', () => {
  describeDailyQuotas(openQuotas);
  describeUnknownUsage(openQuotas);
});
