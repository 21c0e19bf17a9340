import { expect, test } from '@jest/globals';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { PICO_PER_USD } from '@vitrine/traces/usd';
import fc from 'fast-check';
import type { DailyQuotas, QuotaResult } from '../quotas/quota-check.ts';
import { scopeNames } from '../requests/request-counter.ts';
import type { BoundThresholds } from '../thresholds.ts';

export const DAY = '2026-03-01';
export const NOON: number = Date.parse(`${DAY}T12:00:00Z`);
const one = scopeNames('org', 'ws', 'gk_1');
const two = scopeNames('org', 'ws', 'gk_2');

export interface TestQuotas extends AsyncDisposable {
  readonly quotas: DailyQuotas;
  /** Stores traces of this process, and settles them. */
  readonly write: (usage: readonly DayUsage[]) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly time: { now: number };
}

export interface TestQuotasOptions {
  /** Usage of stored traces. */
  readonly stored?: readonly DayUsage[];
  readonly maxAccounts?: number;
  readonly settlementWaitMaxMs?: number;
  readonly countsUnknown?: boolean;
}

/** Tokens, or dollars as `costUsd`, that a key of the workspace `ws` used. */
export function usageOf(key: string, total_tokens: number, cost_usd = 0, day: string = DAY): DayUsage {
  const scope = { org_id: 'org', workspace_id: 'ws', gateway_key_id: key };
  return { day, ...scope, requests: 1, total_tokens, estimated_tokens: 0, cost_usd, cost_upper_usd: cost_usd };
}

/** The same of an exchange whose model has no price. */
export function unpriced(key: string, total_tokens: number, cost_upper_usd: number): DayUsage {
  return { ...usageOf(key, total_tokens), cost_upper_usd };
}

/** The same of an exchange whose usage was not reported. */
export function unreported(key: string, total_tokens: number, cost_upper_usd: number): DayUsage {
  return { ...unpriced(key, total_tokens, cost_upper_usd), estimated_tokens: total_tokens };
}

export function endedBy(key: string): Parameters<DailyQuotas['taken']>[0] {
  return {
    scope: { org_id: 'org', workspace_id: 'ws', gateway_key_id: key, role: 'developer' },
    outcome: 'completed',
  };
}

/** Thresholds of tokens and dollars a day. */
export function daily(
  key: { tokens?: number; usd?: number },
  workspace: { tokens?: number; usd?: number } = {},
): BoundThresholds {
  const of = ({ tokens = 0, usd = 0 }: typeof key) => ({
    requestsPerMinute: 0,
    tokensPerDay: tokens,
    picoUsdPerDay: Math.round(usd * PICO_PER_USD),
  });
  return { key: of(key), workspace: of(workspace) };
}

/** The promises of daily quotas within a single process, shared or not. */
export function describeDailyQuotas(open: (options: TestQuotasOptions) => Promise<TestQuotas>): void {
  const codeOf = (result: QuotaResult) => (typeof result === 'object' ? result.code : result);

  test('the first exceeded quota decides: key tokens, key cost, workspace tokens, workspace cost', async () => {
    await using opened = await open({ stored: [usageOf('gk_1', 10, 1)] });
    const of = async (thresholds: BoundThresholds) => codeOf(await opened.quotas.check(one, thresholds));
    const all = { tokens: 10, usd: 1 };
    expect(await of(daily(all, all))).toBe('KEY_DAILY_TOKENS_EXCEEDED');
    expect(await of(daily({ usd: 1 }, all))).toBe('KEY_DAILY_COST_EXCEEDED');
    expect(await of(daily({}, all))).toBe('WORKSPACE_DAILY_TOKENS_EXCEEDED');
    expect(await of(daily({}, { usd: 1 }))).toBe('WORKSPACE_DAILY_COST_EXCEEDED');
    expect(await of(daily({ tokens: 11, usd: 1.1 }, { tokens: 11, usd: 1.1 }))).toBeUndefined();
  });

  test('a workspace reaches its limit by the usage of all its keys, while no key reaches its own', async () => {
    await using opened = await open({ stored: [usageOf('gk_1', 50), usageOf('gk_2', 50)] });
    const thresholds = daily({ tokens: 100 }, { tokens: 100 });
    const expected = { code: 'WORKSPACE_DAILY_TOKENS_EXCEEDED', isUsedUp: true };
    expect(await opened.quotas.check(one, thresholds)).toEqual(expected);
    expect(await opened.quotas.check(scopeNames('org', 'other', 'gk_3'), thresholds)).toBeUndefined();
  });

  test('usage written by this process counts at once, and cost is exact', async () => {
    await using opened = await open({ stored: [usageOf('gk_1', 100, 0.1)] });
    const check = async (usd: number) => opened.quotas.check(one, daily({ tokens: 111, usd }));
    for (let i = 0; i < 8; i += 1) await opened.write([usageOf('gk_1', 1, 0.1)]);
    expect(await check(1)).toBeUndefined();
    await opened.write([usageOf('gk_1', 1, 0.099999999999)]);
    expect(await check(1)).toBeUndefined();
    await opened.write([usageOf('gk_1', 1, 0.000000000001)]);
    expect(await check(1)).toEqual({ code: 'KEY_DAILY_COST_EXCEEDED', isUsedUp: true });
    expect(await check(2)).toBeUndefined();
    await opened.write([usageOf('gk_1', 1)]);
    expect(await check(2)).toEqual({ code: 'KEY_DAILY_TOKENS_EXCEEDED', isUsedUp: true });
  });

  test('at midnight UTC the quotas reset, and usage of yesterday does not count', async () => {
    await using opened = await open({ stored: [usageOf('gk_1', 100)] });
    const check = async () => opened.quotas.check(one, daily({ tokens: 100 }));
    opened.time.now = Date.parse('2026-03-01T23:59:59.999Z');
    expect(await check()).toMatchObject({ isUsedUp: true });
    opened.time.now += 1;
    expect(await check()).toBeUndefined();
    opened.quotas.settled(0, [usageOf('gk_1', 100), usageOf('gk_1', 99, 0, '2026-03-02')]);
    expect(await check()).toBeUndefined();
    opened.quotas.settled(0, [usageOf('gk_1', 1, 0, '2026-03-02')]);
    expect(await check()).toMatchObject({ isUsedUp: true });
  });

  test('a request waits until exchanges that ended before it are settled, and is checked against their usage', async () => {
    await using opened = await open({});
    const check = async () => opened.quotas.check(one, daily({ tokens: 100 }));
    expect(await check()).toBeUndefined();
    opened.quotas.taken(endedBy('gk_1'));
    const waiting = check();
    opened.quotas.taken(endedBy('gk_1'));
    opened.quotas.settled(1, [usageOf('gk_1', 60)]);
    expect(await waiting).toBeUndefined();
    const next = check();
    opened.quotas.settled(1, [usageOf('gk_1', 60)]);
    expect(codeOf(await next)).toBe('KEY_DAILY_TOKENS_EXCEEDED');
  });

  test('an unreached quota does not hide another that is reached', async () => {
    await using opened = await open({});
    const check = async () => opened.quotas.check(one, daily({ tokens: 100 }, { tokens: 50 }));
    expect(await check()).toBeUndefined();
    opened.quotas.taken(endedBy('gk_1'));
    const waiting = check();
    opened.quotas.taken(endedBy('gk_1'));
    opened.quotas.settled(1, [usageOf('gk_1', 60)]);
    expect(codeOf(await waiting)).toBe('WORKSPACE_DAILY_TOKENS_EXCEEDED');
  });

  test('requests do not wait for dropped exchanges, which have no usage, or for rejected ones', async () => {
    await using opened = await open({});
    const check = async () => opened.quotas.check(one, daily({ tokens: 100 }));
    opened.quotas.taken({ ...endedBy('gk_1'), outcome: 'rejected' });
    expect(await check()).toBeUndefined();
    opened.quotas.taken(endedBy('gk_1'));
    const waiting = check();
    opened.quotas.settled(2, []);
    expect(await waiting).toBeUndefined();
  });

  test('when the writer stalls, the check is unavailable', async () => {
    await using opened = await open({ settlementWaitMaxMs: 5 });
    const check = async () => opened.quotas.check(one, daily({ tokens: 100 }));
    expect(await check()).toBeUndefined();
    opened.quotas.taken(endedBy('gk_1'));
    expect(await check()).toBe('unavailable');
  });

  test('a key without an account cannot be checked', async () => {
    await using opened = await open({ maxAccounts: 2 });
    const check = async (names: typeof one) => opened.quotas.check(names, daily({ tokens: 100 }));
    expect([await check(one), await check(two)]).toEqual([undefined, 'unavailable']);
  });

  test('in any order of events, no request is admitted after its key has used up the quota, stored or not', async () => {
    // The steps of one request: it is checked, it ends, and a batch of ended exchanges is written.
    const scripts = fc.array(fc.constantFrom('check', 'check', 'end', 'write'), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(scripts, fc.integer({ min: 1, max: 40 }), async (script, tokens) => {
        await using opened = await open({});
        const { quotas } = opened;
        let [ended, inFlight, unwritten] = [0, 0, 0];
        const checks: Promise<void>[] = [];
        const write = () => {
          quotas.settled(unwritten, unwritten === 0 ? [] : [usageOf('gk_1', unwritten * tokens)]);
          unwritten = 0;
        };
        const check = async () => {
          const usage = ended * tokens;
          const result = await quotas.check(one, daily({ tokens: 100 }));
          if (usage >= 100) expect(codeOf(result)).toBe('KEY_DAILY_TOKENS_EXCEEDED');
          // Exchanges in flight when it came may have used the rest.
          if (result !== undefined) expect(ended * tokens).toBeGreaterThanOrEqual(100);
          if (result === undefined) inFlight += 1;
        };
        for (const step of script) {
          if (step === 'write') write();
          if (step === 'end' && inFlight > 0) {
            quotas.taken(endedBy('gk_1'));
            [ended, inFlight, unwritten] = [ended + 1, inFlight - 1, unwritten + 1];
          }
          if (step === 'check') checks.push(check());
          await Promise.resolve();
        }
        const writing = setInterval(write, 1);
        await Promise.all(checks).finally(() => clearInterval(writing));
      }),
      { numRuns: 30 },
    );
  });
}
