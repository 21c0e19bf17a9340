import { describe, expect, test } from '@jest/globals';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { PICO_PER_USD } from '@vitrine/traces/usd';
import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import type { QuotaResult } from '../quotas/quota-check.ts';
import { scopeNames } from '../requests/request-counter.ts';
import type { BoundThresholds } from '../thresholds.ts';
import {
  daily,
  endedBy,
  unpriced,
  unreported,
  usageOf,
  type TestQuotas,
  type TestQuotasOptions,
} from './daily-quotas-contract.ts';

const one = scopeNames('org', 'ws', 'gk_1');
const codeOf = (result: QuotaResult) => (typeof result === 'object' ? result.code : result);

/** Amounts of tokens and of millionths of a dollar. */
const exchange = fc.record({
  key: fc.constantFrom('gk_1', 'gk_2'),
  tokens: fc.nat({ max: 1_000 }),
  isReported: fc.boolean(),
  known: fc.nat({ max: 1_000 }),
  unknown: fc.nat({ max: 1_000 }),
  isStored: fc.boolean(),
});
type Exchange = typeof exchange extends fc.Arbitrary<infer E> ? E : never;

function dayUsage({ key, tokens, isReported, known, unknown }: Exchange): DayUsage {
  const costs = { cost_usd: known / 1e6, cost_upper_usd: (known + unknown) / 1e6 };
  return { ...usageOf(key, tokens), ...costs, estimated_tokens: isReported ? 0 : tokens };
}

/** What counts, in tokens and trillionths of a dollar. */
function counted(exchanges: readonly Exchange[], countsUnknown: boolean) {
  let [tokens, micros] = [0, 0];
  for (const { tokens: used, isReported, known, unknown } of exchanges) {
    if (isReported || countsUnknown) tokens += used;
    micros += countsUnknown ? known + unknown : known;
  }
  return { tokens, picoUsd: (micros * PICO_PER_USD) / 1e6 };
}

/** The promises of daily quotas about usage and cost that are not known, within a single process, shared or not. Spec: G10.17, G10.18. */
export function describeUnknownUsage(open: (options: TestQuotasOptions) => Promise<TestQuotas>): void {
  const capUsd = daily({ usd: 0.05 });
  const capTokens = daily({ tokens: 1_000 });

  describe.each([true, false])('if unknown usage counts: %p', (countsUnknown) => {
    const reached = (code: string) => (countsUnknown ? code : undefined);

    test('of six exchanges without a price, of 0.125 dollars each, a cap of 0.05 dollars admits the first alone', async () => {
      await using opened = await open({ countsUnknown });
      const results: unknown[] = [];
      for (let i = 0; i < 6; i += 1) {
        results.push(codeOf(await opened.quotas.check(one, capUsd)));
        await opened.write([unpriced('gk_1', 50_000, 0.125)]);
      }
      const cost = reached('KEY_DAILY_COST_EXCEEDED');
      expect(results).toEqual([undefined, cost, cost, cost, cost, cost]);
    });

    test('of twelve exchanges without usage, of 600 tokens by estimate, a cap of 1,000 tokens admits the first two', async () => {
      await using opened = await open({ countsUnknown });
      let admitted = 0;
      for (let i = 0; i < 12; i += 1) {
        if ((await opened.quotas.check(one, capTokens)) === undefined) admitted += 1;
        await opened.write([unreported('gk_1', 600, 0.001)]);
      }
      expect(admitted).toBe(countsUnknown ? 2 : 12);
    });

    test('stored usage counts like usage of this process', async () => {
      await using opened = await open({ countsUnknown, stored: [unpriced('gk_2', 10, 0.125), unreported('gk_2', 1_000, 0)] });
      const of = async (thresholds: BoundThresholds) => codeOf(await opened.quotas.check(one, thresholds));
      expect(await of(daily({}, { usd: 0.05 }))).toBe(reached('WORKSPACE_DAILY_COST_EXCEEDED'));
      expect(await of(daily({}, { tokens: 1_000 }))).toBe(reached('WORKSPACE_DAILY_TOKENS_EXCEEDED'));
      expect(await of(daily({}, { tokens: 10 }))).toBe('WORKSPACE_DAILY_TOKENS_EXCEEDED');
    });

    test('any mixture adds up exactly for key and workspace, whichever part of it is stored', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(exchange, { maxLength: 20 }), async (exchanges) => {
          const stored = exchanges.filter(({ isStored }) => isStored).map(dayUsage);
          const keys = ['gk_1', 'gk_2'].map((key) => stored.filter(({ gateway_key_id }) => gateway_key_id === key));
          await using opened = await open({ countsUnknown, stored: keys.flatMap(sumOf) });
          for (const own of exchanges) if (!own.isStored) await opened.write([dayUsage(own)]);
          const key = counted(
            exchanges.filter((of) => of.key === 'gk_1'),
            countsUnknown,
          );
          const workspace = counted(exchanges, countsUnknown);
          for (const [limits, code, used] of [
            [(amount: number) => daily({ tokens: amount }), 'KEY_DAILY_TOKENS_EXCEEDED', key.tokens],
            [(amount: number) => dailyPico(amount, 0), 'KEY_DAILY_COST_EXCEEDED', key.picoUsd],
            [(amount: number) => daily({}, { tokens: amount }), 'WORKSPACE_DAILY_TOKENS_EXCEEDED', workspace.tokens],
            [(amount: number) => dailyPico(0, amount), 'WORKSPACE_DAILY_COST_EXCEEDED', workspace.picoUsd],
          ] as const) {
            expect(codeOf(await opened.quotas.check(one, limits(used + 1)))).toBeUndefined();
            if (used > 0) expect(codeOf(await opened.quotas.check(one, limits(used)))).toBe(code);
          }
        }),
        { numRuns: 30 },
      );
    });
  });

  test('64 clients over mixed traffic exceed a cap by at most what was in flight', async () => {
    await using opened = await open({});
    const { quotas } = opened;
    const cap = 20;
    const kinds = [
      usageOf('gk_1', 1_000, 0.125),
      unpriced('gk_1', 1_000, 0.3),
      unreported('gk_1', 1_200, 0.2),
      usageOf('gk_1', 10, 0.0001),
    ];
    const ended: DayUsage[] = [];
    let [settled, total, inFlight, mostInFlight] = [0, 0, 0, 0];
    const settle = () => {
      const batch = ended.splice(0);
      quotas.settled(batch.length, sumOf(batch));
      for (const { cost_upper_usd } of batch) settled += cost_upper_usd;
    };
    const client = async (number: number) => {
      for (let i = number; ; i += 1) {
        const before = settled;
        const result = await quotas.check(one, daily({ usd: cap }));
        if (result !== undefined && result !== 'unavailable' && result.isUsedUp) return;
        if (result !== undefined) await turns(1);
        if (result !== undefined) continue;
        expect(before).toBeLessThan(cap);
        inFlight += 1;
        mostInFlight = Math.max(mostInFlight, inFlight);
        const usage = kinds[i % kinds.length] ?? usageOf('gk_1', 0);
        await turns(i % 5);
        inFlight -= 1;
        total += usage.cost_upper_usd;
        quotas.taken(endedBy('gk_1'));
        ended.push(usage);
      }
    };
    const clients = Array.from({ length: 64 }, (_, number) => client(number));
    const stop = new AbortController();
    const writing = (async () => {
      for (; !stop.signal.aborted; settle()) await turns(5);
    })();
    await Promise.all(clients).finally(() => stop.abort());
    await writing;
    expect(total).toBeGreaterThanOrEqual(cap);
    expect(total).toBeLessThan(cap + mostInFlight * 0.3);
  });
}

/** Lets other work run. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await turn();
}

/** Thresholds in trillionths of a dollar a day. */
function dailyPico(key: number, workspace: number): BoundThresholds {
  const of = (picoUsdPerDay: number) => ({ requestsPerMinute: 0, tokensPerDay: 0, picoUsdPerDay });
  return { key: of(key), workspace: of(workspace) };
}

/** The sum of the usage of one key, as a store or a batch has it; none for no usage. */
function sumOf(usages: readonly DayUsage[]): DayUsage[] {
  const [first, ...more] = usages;
  if (first === undefined) return [];
  const rounded = (usd: number) => Math.round(usd * 1e6) / 1e6;
  return [
    more.reduce(
      (sum, one) => ({
        ...sum,
        requests: sum.requests + one.requests,
        total_tokens: sum.total_tokens + one.total_tokens,
        estimated_tokens: sum.estimated_tokens + one.estimated_tokens,
        cost_usd: rounded(sum.cost_usd + one.cost_usd),
        cost_upper_usd: rounded(sum.cost_upper_usd + one.cost_upper_usd),
      }),
      first,
    ),
  ];
}
