import { describe, expect, test } from '@jest/globals';
import { messageOf } from '@vitrine/faults/fault';
import { createLogger } from '@vitrine/telemetry/logger';
import { readGatewayConfig } from '../config.ts';
import { openLimits } from './open-limits.ts';
import { ThresholdTable } from './thresholds.ts';

const read = (text: string, env: Record<string, string> = {}) => readGatewayConfig({ path: 'y', text }, env);

function configError(text: string, env: Record<string, string> = {}): string {
  try {
    read(text, env);
  } catch (error) {
    return messageOf(error);
  }
  throw new Error('was accepted');
}

describe('limits and plans in the configuration', () => {
  test('nothing is limited by default', () => {
    const none = { requests_per_minute: 0, max_tokens_per_day: 0, max_cost_usd_per_day: 0 };
    expect(read('')).toMatchObject({
      limits: { per_key: none, per_workspace: none, counters: 'process', unknown: 'estimate' },
      plans: {},
    });
  });

  test('plans have no environment variable', () => {
    const env = { SVC_LIMITS_PER_KEY_REQUESTS_PER_MINUTE: '5', SVC_LIMITS_PER_WORKSPACE_MAX_COST_USD_PER_DAY: '2.5' };
    expect(read('limits: {per_key: {max_tokens_per_day: 7}}', env).limits).toMatchObject({
      per_key: { requests_per_minute: 5, max_tokens_per_day: 7 },
      per_workspace: { max_cost_usd_per_day: 2.5 },
    });
    expect(configError('', { SVC_PLANS: 'x' })).toMatch(/SVC_PLANS: unknown variable/);
  });

  test.each([
    ['limits: {per_key: {requests_per_minute: -1}}', /limits\.per_key\.requests_per_minute/],
    ['limits: {per_key: {max_tokens_per_day: 1.5}}', /limits\.per_key\.max_tokens_per_day/],
    ['limits: {per_workspace: {max_cost_usd_per_day: -0.1}}', /limits\.per_workspace\.max_cost_usd_per_day/],
    ['limits: {per_workspace: {max_cost_usd_per_day: .inf}}', /limits\.per_workspace\.max_cost_usd_per_day/],
    ['limits: {per_org: {}}', /limits\.per_org: unknown key/],
    ['limits: {counters: shared}', /limits\.counters[^]*shared needs storage\.driver: postgres/],
    ['limits: {counters: global}', /limits\.counters/],
    ['limits: {unknown: deny}', /limits\.unknown .*: must be "estimate", "allow" or "refuse"/],
    ['prices: {unknown_model: {openai: ""}}', /prices\.unknown_model\.openai/],
    ['prices: {unknown_model: {azure: gpt-5.5}}', /prices\.unknown_model\.azure: unknown key/],
    ['plans: {pro: {unknown: allow}}', /plans\.pro\.unknown: unknown key/],
    ['plans: {pro: {per_key: {requests_per_day: 1}}}', /plans\.pro\.per_key\.requests_per_day: unknown key/],
    ['plans: {"a b": {}}', /plans\.a b/],
  ])('%s is rejected', (text, expected) => {
    expect(configError(text)).toMatch(expected);
  });

  test('a key of the file must have a configured plan', () => {
    const key = 'auth: {keys: [{id: k, token: token-0123456789-0123456789, plan: pro}]}';
    expect(configError(key)).toMatch(/auth\.keys\.0\.plan: unknown plan "pro"; no plan is configured/);
    expect(read(`${key}\nplans: {pro: {}}`).auth.keys[0]?.plan).toBe('pro');
    // If plans can come from other sources, the plan may be created later.
    expect(read(`${key}\nlimits: {plans_dir: /etc/plans}`).auth.keys[0]?.plan).toBe('pro');
    const postgres = '{driver: postgres, dsn: "postgres://localhost/v"}';
    expect(read(`${key}\nstorage: ${postgres}`).auth.keys[0]?.plan).toBe('pro');
  });

  test('an amount above 0 is a limit, however small', () => {
    const { limits, plans } = read('limits: {per_key: {max_cost_usd_per_day: 0.0000000001}}');
    const table = new ThresholdTable(limits, plans);
    expect(table.hasDaily).toBe(true);
    const caller = { plan: undefined, org_id: 'org', workspace_id: 'ws' };
    expect(table.of(caller)).toMatchObject({ key: { picoUsdPerDay: 100 } });
    const least = new ThresholdTable(read('limits: {per_key: {max_cost_usd_per_day: 1.0e-20}}').limits, {});
    expect(least.of(caller)).toMatchObject({ key: { picoUsdPerDay: 1 } });
  });

  test.each([
    ['limits: {per_key: {requests_per_minute: 1}}', false],
    ['limits: {per_workspace: {max_tokens_per_day: 1}}', true],
    ['plans: {pro: {per_key: {max_cost_usd_per_day: 1}}}', true],
    ['plans: {pro: {per_workspace: {max_cost_usd_per_day: 1}}}', true],
  ])('%s has daily limits: %s', (text, hasDaily) => {
    const { limits, plans } = read(text);
    expect(new ThresholdTable(limits, plans).hasDaily).toBe(hasDaily);
  });
});

const KEY = '{id: one, token: one-token-0123456789-0123456789, org_id: org, workspace_id: ws, role: developer}';

test('a plan that is not configured is logged at once, then every ten seconds with the number of its requests', async () => {
  const lines: { readonly msg: string; readonly plan: string; readonly count: number }[] = [];
  const logger = createLogger('test', 'error', { write: (line) => lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const config = readGatewayConfig({ path: 'vitrine.yaml', text: `auth: {enabled: true, keys: [${KEY}]}` }, {});
  let now = 0;
  const clocks = { clock: () => 0, steadyClock: () => now };
  const limits = await openLimits(config, { totals: async () => [], logger, ...clocks });
  const request = (plan: string) =>
    limits.gate({ org_id: 'org', workspace_id: 'ws', key_id: 'one', role: 'developer', permissions: new Set(), plan });
  for (const plan of ['gone', 'gone', 'other']) expect(request(plan)).toBeDefined();
  now = 10_000;
  for (const plan of ['gone', 'last']) expect(request(plan)).toBeDefined();
  expect(lines.map(({ plan, count }) => [plan, count])).toEqual([
    ['gone', 1],
    ['gone', 3],
  ]);
  await limits[Symbol.asyncDispose]();
  expect(lines[2]).toMatchObject({ msg: 'unknown plan: requests rejected', plan: 'last', count: 1 });
});
