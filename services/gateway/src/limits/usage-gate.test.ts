import { describe, expect, test } from '@jest/globals';
import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { rejectionBody } from '@vitrine/http-api/rejection';
import { NO_PLANS, type AppliedPlans } from './plans/live-plans.ts';
import { InMemoryRequestCounter } from './requests/in-memory-request-counter.ts';
import { LIMIT_CHECK_UNAVAILABLE, quotaRejection, rateRejection, unknownPlanRejection } from './limit-rejections.ts';
import { limitsConfig, plansConfig } from './limits-config.ts';
import { QuotaLedger } from './quotas/quota-ledger.ts';
import type { RateResult, RequestCounter } from './requests/request-counter.ts';
import { ThresholdTable } from './thresholds.ts';
import { UsageGate } from './usage-gate.ts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const identity = (key: string, more: Partial<Identity> = {}): Identity => ({
  org_id: 'org',
  workspace_id: 'ws',
  key_id: key,
  role: 'developer',
  permissions: new Set(['proxy:write']),
  plan: undefined,
  ...more,
});
const one = identity('gk_1');
const two = identity('gk_2');

const used = (key: string, tokens: number, costUsd = 0): DayUsage => ({
  day: '2026-03-01',
  org_id: 'org',
  workspace_id: 'ws',
  gateway_key_id: key,
  requests: 1,
  total_tokens: tokens,
  estimated_tokens: 0,
  cost_usd: costUsd,
  cost_upper_usd: costUsd,
});
const takenBy = (key: string) => ({
  scope: { org_id: 'org', workspace_id: 'ws', gateway_key_id: key, role: 'developer' },
  outcome: 'completed' as const,
});

/** A gate with stopped clocks, over a store that contains `stored`. */
async function setUp(
  limits: object,
  {
    plans = {},
    workspaces = [] as AppliedPlans['workspaces'],
    stored = [] as DayUsage[],
    waitMaxMs = 60_000,
    requestCounter = undefined as RequestCounter | undefined,
  } = {},
) {
  const time = { steady: 0 };
  const unknownPlans: string[] = [];
  const thresholds = new ThresholdTable(limitsConfig.parse(limits), plansConfig.parse(plans), { ...NO_PLANS, workspaces });
  const ledger = new QuotaLedger({
    totals: () => Promise.resolve(stored),
    clock: () => NOON,
    steadyClock: () => time.steady,
    onFailedRead: () => {},
    settlementWaitMaxMs: waitMaxMs,
  });
  await ledger.read();
  const counter = requestCounter ?? new InMemoryRequestCounter(() => time.steady);
  const gate = new UsageGate({
    thresholds,
    quotas: ledger,
    counter,
    clock: () => NOON,
    onUnknownPlan: (_, plan) => unknownPlans.push(plan),
  });
  return { gate, ledger, time, unknownPlans };
}

describe('the usage gate', () => {
  test('without limits every request is admitted', async () => {
    const { gate } = await setUp({});
    for (let i = 0; i < 1_000; i += 1) expect(gate.check(one)).toBeUndefined();
  });

  test('checks key tokens, key cost, workspace tokens, workspace cost, key rate, workspace rate, in this order', async () => {
    const per_key = { requests_per_minute: 1, max_tokens_per_day: 10, max_cost_usd_per_day: 1 };
    const per_workspace = { requests_per_minute: 1, max_tokens_per_day: 10, max_cost_usd_per_day: 1 };
    const codes: (string | undefined)[] = [];
    const disabled = [
      [per_key, 'max_tokens_per_day'],
      [per_key, 'max_cost_usd_per_day'],
      [per_workspace, 'max_tokens_per_day'],
      [per_workspace, 'max_cost_usd_per_day'],
      [per_key, 'requests_per_minute'],
      [per_workspace, 'requests_per_minute'],
    ] as const;
    for (const [scope, name] of disabled) {
      const { gate } = await setUp({ per_key, per_workspace }, { stored: [used('gk_1', 10, 1)] });
      await gate.check(one);
      codes.push((await gate.check(one))?.reason);
      Object.assign(scope, { [name]: 0 });
    }
    expect(codes).toEqual([
      'KEY_DAILY_TOKENS_EXCEEDED',
      'KEY_DAILY_COST_EXCEEDED',
      'WORKSPACE_DAILY_TOKENS_EXCEEDED',
      'WORKSPACE_DAILY_COST_EXCEEDED',
      'KEY_RATE_LIMIT_EXCEEDED',
      'WORKSPACE_RATE_LIMIT_EXCEEDED',
    ]);
  });

  test('1,000 at once against 100 a minute: exactly 100 are admitted, and a minute later 100 more', async () => {
    const { gate, time } = await setUp({ per_key: { requests_per_minute: 100 } });
    const passes = async () =>
      (await Promise.all(Array.from({ length: 1_000 }, async () => gate.check(one)))).filter(
        (rejection) => rejection === undefined,
      ).length;
    expect(await passes()).toBe(100);
    time.steady = 59_999;
    expect(await passes()).toBe(0);
    time.steady = 60_000;
    expect(await passes()).toBe(100);
  });

  test('a request that a quota rejects uses up no rate', async () => {
    const { gate, ledger } = await setUp({ per_key: { max_tokens_per_day: 10 }, per_workspace: { requests_per_minute: 1 } });
    ledger.settled(0, [used('gk_1', 10)]);
    for (let i = 0; i < 5; i += 1) expect(gate.check(one)).toMatchObject({ reason: 'KEY_DAILY_TOKENS_EXCEEDED' });
    expect(gate.check(two)).toBeUndefined();
  });

  test('unknown usage rejects: totals older than 15 s, and only where there is a daily limit', async () => {
    const plans = { rated: { per_key: { requests_per_minute: 5 } } };
    const { gate, ledger, time } = await setUp({ per_key: { max_tokens_per_day: 10 } }, { plans });
    time.steady = 15_000;
    expect(gate.check(one)).toBeUndefined();
    time.steady = 15_001;
    expect(gate.check(one)).toBe(LIMIT_CHECK_UNAVAILABLE);
    expect(gate.check(identity('gk_9', { plan: 'rated' }))).toBeUndefined();
    await ledger.read();
    expect(gate.check(one)).toBeUndefined();
  });

  test('a plan replaces the configured limits of its keys, and of its workspaces', async () => {
    const plans = {
      large: { per_key: { requests_per_minute: 3 }, per_workspace: { requests_per_minute: 1 } },
      free: {},
    };
    const { gate } = await setUp(
      { per_key: { requests_per_minute: 1, max_tokens_per_day: 1 } },
      { plans, workspaces: [{ org_id: 'org', workspace_id: 'w', plan: 'large' }], stored: [used('gk_1', 9)] },
    );
    const passes = (who: Identity) => [1, 2, 3, 4].filter(() => gate.check(who) === undefined).length;
    expect(passes(identity('gk_1', { plan: 'large' }))).toBe(3);
    expect(passes(identity('gk_2', { plan: 'large', workspace_id: 'w' }))).toBe(1);
    expect(passes(identity('gk_3', { plan: 'free' }))).toBe(4);
    expect(gate.check(one)).toMatchObject({ reason: 'KEY_DAILY_TOKENS_EXCEEDED' });
  });

  test('a plan that is not configured rejects, and is reported', async () => {
    const workspaces = [{ org_id: 'org', workspace_id: 'w', plan: 'lost' }];
    const { gate, unknownPlans } = await setUp({}, { workspaces });
    expect(gate.check(identity('gk_1', { plan: 'gone' }))).toEqual(unknownPlanRejection('gone'));
    expect(gate.check(identity('gk_1', { workspace_id: 'w' }))).toEqual(unknownPlanRejection('lost'));
    expect(unknownPlans).toEqual(['gone', 'lost']);
  });
});

describe('new thresholds', () => {
  const table = (per_key: object) => new ThresholdTable(limitsConfig.parse({ per_key }), {});

  test('apply to requests counted before: a lower rate rejects, a higher one admits the difference', async () => {
    const { gate } = await setUp({ per_key: { requests_per_minute: 3 } });
    const passes = () => [1, 2, 3, 4, 5].filter(() => gate.check(one) === undefined).length;
    expect(passes()).toBe(3);
    gate.apply(table({ requests_per_minute: 2 }));
    expect(passes()).toBe(0);
    gate.apply(table({ requests_per_minute: 4 }));
    expect(passes()).toBe(1);
    gate.apply(table({}));
    expect(passes()).toBe(5);
  });

  test('a new daily limit waits for the totals, which were not read before', async () => {
    const { gate, ledger, time } = await setUp({}, { stored: [used('gk_1', 9)] });
    time.steady = 60_000;
    expect(gate.check(one)).toBeUndefined();
    ledger.refresh();
    gate.apply(table({ max_tokens_per_day: 9 }));
    const waiting = [one, two].map(async (who) => gate.check(who));
    expect(await Promise.all(waiting)).toMatchObject([{ reason: 'KEY_DAILY_TOKENS_EXCEEDED' }, undefined]);
  });

  test('a plan of the rows replaces one of the configuration, unless it has none for the gateway', () => {
    const limits = { rpm: 1, concurrency: 1, freshnessDays: 1, historyDays: 1, enrichBatchMax: 1, liveRefreshesPerPeriod: 0 };
    const included = { lookup_cached: 0, history_query: 0, refresh_requested: 0 };
    const gateway = limitsConfig.parse({ per_key: { requests_per_minute: 9 } });
    const live = {
      generation: 1,
      plans: { pro: { ...limits, included, gateway }, free: { ...limits, included } },
      workspaces: [],
    };
    const configured = plansConfig.parse({ pro: {}, free: { per_key: { requests_per_minute: 2 } } });
    const rateOf = (plan: string, plans = configured) =>
      new ThresholdTable(limitsConfig.parse({ per_key: { requests_per_minute: 5 } }), plans, live).of(identity('gk', { plan }));
    expect(rateOf('pro')).toMatchObject({ key: { requestsPerMinute: 9 } });
    expect(rateOf('free')).toMatchObject({ key: { requestsPerMinute: 2 } });
    expect(rateOf('free', {})).toMatchObject({ key: { requestsPerMinute: 5 } });
    expect(rateOf('gone')).toEqual({ unknownPlan: 'gone' });
  });
});

describe('a shared counter', () => {
  const limits = { per_key: { requests_per_minute: 1, max_tokens_per_day: 100 } };
  const counterOf = (result: RateResult): RequestCounter => ({ admit: async () => result });

  test.each([
    ['admits', undefined, undefined],
    ['rejects', { scope: 'key', waitMs: 1_500 }, { reason: 'KEY_RATE_LIMIT_EXCEEDED', headers: ['Retry-After', '2'] }],
    ['cannot count', 'unavailable', LIMIT_CHECK_UNAVAILABLE],
  ] as const)('%s with a promise', async (_, result, expected) => {
    const { gate, ledger } = await setUp(limits, { requestCounter: counterOf(result) });
    const decision = gate.check(one);
    expect(decision).toBeInstanceOf(Promise);
    ledger.taken(takenBy('gk_1'));
    const waiting = gate.check(one);
    ledger.settled(1, []);
    for (const late of [await decision, await waiting]) expect({ late }).toMatchObject({ late: expected });
  });
});

describe('when the wall clock is set to another day', () => {
  const limits = { per_key: { max_tokens_per_day: 100 } };
  const DAY_MS = 86_400_000;

  /** A gate over a store whose reads the test resolves. */
  async function setUpClock() {
    const time = { now: NOON };
    const reads: { day: string; resolve: (rows: readonly DayUsage[]) => void; fail: () => void }[] = [];
    const ledger = new QuotaLedger({
      totals: (day) => {
        const { promise, resolve, reject } = Promise.withResolvers<readonly DayUsage[]>();
        reads.push({ day, resolve, fail: () => reject(new Error('no store')) });
        return promise;
      },
      clock: () => time.now,
      steadyClock: () => 0,
      onFailedRead: () => {},
      settlementWaitMaxMs: 50,
    });
    const reading = ledger.read();
    reads[0]?.resolve([]);
    await reading;
    const thresholds = new ThresholdTable(limitsConfig.parse(limits), plansConfig.parse({}));
    const counter = new InMemoryRequestCounter(() => 0);
    const gate = new UsageGate({
      thresholds,
      quotas: ledger,
      counter,
      clock: () => NOON,
      onUnknownPlan: () => {},
    });
    return { gate, ledger, time, reads };
  }

  test.each([
    ['back by a day', -DAY_MS],
    ['forward by a day', DAY_MS],
  ])('%s, no request is rejected: they wait for the totals of that day, and are checked against them', async (_, leapMs) => {
    const { gate, time, reads } = await setUpClock();
    expect(gate.check(one)).toBeUndefined();
    time.now += leapMs;
    const waiting = [one, two].map(async (who) => gate.check(who));
    const day = new Date(time.now).toISOString().slice(0, 10);
    expect(reads.slice(1).map((read) => read.day)).toEqual([day]);
    reads[1]?.resolve([{ ...used('gk_2', 100), day }]);
    expect(await Promise.all(waiting)).toMatchObject([undefined, { reason: 'KEY_DAILY_TOKENS_EXCEEDED' }]);
    expect(gate.check(one)).toBeUndefined();
  });

  test('while a batch is being written, too', async () => {
    const { gate, ledger, time, reads } = await setUpClock();
    ledger.taken(takenBy('gk_2'));
    time.now -= DAY_MS;
    const waiting = gate.check(one);
    reads[1]?.resolve([]);
    await Promise.resolve();
    ledger.settled(1, []);
    expect(await waiting).toBeUndefined();
  });

  test.each([
    ['cannot be read', true],
    ['does not respond', false],
  ])('a store that %s keeps no request waiting', async (_, fails) => {
    const { gate, time, reads } = await setUpClock();
    time.now -= DAY_MS;
    const waiting = gate.check(one);
    if (fails) reads[1]?.fail();
    expect(await waiting).toBe(LIMIT_CHECK_UNAVAILABLE);
    if (fails) expect(gate.check(one)).toBe(LIMIT_CHECK_UNAVAILABLE);
  });
});

describe('near a daily quota', () => {
  const limits = { per_key: { max_tokens_per_day: 100 } };

  test('far from it no request waits', async () => {
    const { gate, ledger } = await setUp(limits);
    ledger.settled(0, [used('gk_1', 25)]);
    for (let i = 0; i < 2; i += 1) {
      ledger.taken(takenBy('gk_1'));
      expect(gate.check(one)).toBeUndefined();
    }
    ledger.taken(takenBy('gk_1'));
    expect(gate.check(one)).toBeInstanceOf(Promise);
    expect(gate.check(two)).toBeUndefined();
    ledger.settled(3, []);
  });
});

describe('the rejection', () => {
  test('a quota whose rest is reserved by other processes: 429 with a time to retry', async () => {
    const quotas = { check: () => ({ code: 'KEY_DAILY_TOKENS_EXCEEDED', isUsedUp: false }) as const };
    const thresholds = new ThresholdTable(limitsConfig.parse({ per_key: { max_tokens_per_day: 10 } }), {});
    const counter = new InMemoryRequestCounter(() => 0);
    const gate = new UsageGate({ thresholds, quotas, counter, clock: () => NOON, onUnknownPlan: () => {} });
    const rejection = await gate.check(one);
    expect(rejection).toMatchObject({ status: 429, reason: 'KEY_DAILY_TOKENS_EXCEEDED', headers: ['Retry-After', '1'] });
  });

  const at = Date.parse('2026-03-01T22:59:59.250Z');

  test.each([
    ['KEY_RATE_LIMIT_EXCEEDED', 'request rate limit exceeded for key'],
    ['WORKSPACE_RATE_LIMIT_EXCEEDED', 'request rate limit exceeded for workspace'],
  ] as const)('%s: when to retry', (code, error) => {
    const rejection = rateRejection(code, 1_001);
    expect([rejection.status, rejectionBody(rejection)]).toEqual([429, { error, code, retry_after_seconds: 2 }]);
    expect(rejection.headers).toEqual(['Retry-After', '2']);
    expect(rateRejection(code, 0.5).headers).toEqual(['Retry-After', '1']);
    expect(rateRejection(code, 60_000).headers).toEqual(['Retry-After', '60']);
  });

  test.each([
    ['KEY_DAILY_TOKENS_EXCEEDED', 'daily token limit exceeded for key'],
    ['WORKSPACE_DAILY_TOKENS_EXCEEDED', 'daily token limit exceeded for workspace'],
    ['KEY_DAILY_COST_EXCEEDED', 'daily cost limit exceeded for key'],
    ['WORKSPACE_DAILY_COST_EXCEEDED', 'daily cost limit exceeded for workspace'],
  ] as const)('%s: not to retry today', (code, error) => {
    const rejection = quotaRejection(code, at);
    expect([rejection.status, rejectionBody(rejection)]).toEqual([429, { error, code }]);
    expect(rejection.headers).toEqual(['x-should-retry', 'false', 'X-Svc-Quota-Resets-At', '2026-03-02T00:00:00Z']);
  });

  test('an unknown plan: 503 that names it and is not retried', () => {
    const rejection = unknownPlanRejection('gone');
    const error = 'gateway usage limit check unavailable: there is no plan "gone"';
    expect([rejection.status, rejectionBody(rejection)]).toEqual([503, { error, code: 'UNKNOWN_PLAN', plan: 'gone' }]);
    expect(rejection.headers).toEqual(['x-should-retry', 'false']);
  });

  test('unavailable: 503', () => {
    const error = 'gateway usage limit check unavailable';
    expect([LIMIT_CHECK_UNAVAILABLE.status, rejectionBody(LIMIT_CHECK_UNAVAILABLE)]).toEqual([503, { error }]);
  });
});
