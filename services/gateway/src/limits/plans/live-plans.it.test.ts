import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { upsertPlan } from '@vitrine/plans/plan-changes';
import { planLimits } from '@vitrine/plans/plan-limits';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const TOKEN = 'one-token-0123456789-0123456789';
const KEYS = `auth: {enabled: true, keys: [{id: one, token: ${TOKEN}, org_id: acme, workspace_id: search, plan: pro}]}`;
/** The maximum time from the commit of a plan's row until every gateway applies it. */
const APPLIED_WITHIN_MS = 5_000;
const CHAT = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] });

let stack: AsyncDisposableStack;
let database: TestDatabase;
let operator: PostgresPool;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  database = stack.use(await templateDatabase());
  operator = stack.use(new PostgresPool({ dsn: database.dsn, applicationName: 'operator' }));
});
afterEach(() => stack.disposeAsync());

/** Connects with the rights of a gateway. */
async function start(more: Readonly<Record<string, string>>): Promise<TestGateway> {
  const dsn = new URL(database.dsn.reveal());
  dsn.searchParams.set('options', '-c role=vitrine_gateway');
  const storage = { SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: dsn.href, SVC_AUTH_PEPPERS: `1:${'p'.repeat(32)}` };
  return stack.use(await startTestGateway({ ...storage, ...more }, KEYS));
}

function setPlan(gateway: object | undefined): Promise<void> {
  const store = { rpm: 1, concurrency: 1, freshnessDays: 1, historyDays: 1, enrichBatchMax: 1, liveRefreshesPerPeriod: 0 };
  const limits = planLimits.parse({ ...store, ...(gateway && { gateway }) });
  return operator.transaction((transaction) => upsertPlan(transaction, 'pro', limits));
}

/** The code of a rejection, else the status. */
async function send({ url }: TestGateway): Promise<unknown> {
  const headers = { 'x-svc-gateway-key': TOKEN, authorization: 'Bearer sk-canary', 'content-type': 'application/json' };
  const response = await fetch(`${url}/openai/v1/chat/completions`, { method: 'POST', headers, body: CHAT });
  const { code } = (await response.json()) as { code?: string };
  return code ?? response.status;
}

async function untilAll(gateways: readonly TestGateway[], expected: unknown): Promise<void> {
  const isDone = async () => (await Promise.all(gateways.map(send))).every((result) => result === expected);
  await waitUntil(isDone, { what: `${String(expected)} from all gateways`, timeoutMs: APPLIED_WITHIN_MS });
}

/** How many requests are admitted until one of each gateway is rejected. */
async function admitted(gateways: readonly TestGateway[]): Promise<number> {
  let count = 0;
  for (let rejected = 0; rejected < gateways.length;) {
    const isAdmitted = (await send(gateways[rejected] as TestGateway)) === 200;
    if (isAdmitted) count += 1;
    else rejected += 1;
  }
  return count;
}

describe.each(['process', 'shared'])('a plan of rows in Postgres, with limits.counters: %s', (counters) => {
  test('is applied by running gateways within 5 s when it is created, raised, lowered, or assigned to a workspace', async () => {
    const one = await start({ SVC_LIMITS_COUNTERS: counters });
    const gateways = counters === 'shared' ? [one, await start({ SVC_LIMITS_COUNTERS: counters })] : [one];

    // The plan of the key does not exist yet.
    expect(await Promise.all(gateways.map(send))).toEqual(gateways.map(() => 'UNKNOWN_PLAN'));
    await setPlan(undefined);
    await untilAll(gateways, 200);

    // Earlier requests do not count, because there was no limit then.
    await setPlan({ per_key: { requests_per_minute: 2 } });
    await untilAll(gateways, 'KEY_RATE_LIMIT_EXCEEDED');
    await setPlan({ per_key: { requests_per_minute: 9 } });
    await waitUntil(async () => (await send(one)) === 200, { what: 'the raised limit', timeoutMs: APPLIED_WITHIN_MS });
    const more = await admitted(gateways);
    expect(more).toBeGreaterThanOrEqual(counters === 'shared' ? 4 : 6);
    expect(more).toBeLessThanOrEqual(6);

    await setPlan({ per_key: { max_tokens_per_day: 1 } });
    await untilAll(gateways, 'KEY_DAILY_TOKENS_EXCEEDED');
    await setPlan({ per_workspace: { max_tokens_per_day: 1 } });
    await untilAll(gateways, 200);
    await operator.query("INSERT INTO workspace_plans VALUES ('acme', 'search', 'pro')");
    await untilAll(gateways, 'WORKSPACE_DAILY_TOKENS_EXCEEDED');

    const lines = one.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    const applied = lines
      .filter(({ msg }) => msg === 'plans applied')
      .map(({ generation, changed, workspaces }) => [generation, changed, workspaces]);
    expect(applied).toEqual([[0, [], 0], ...[1, 2, 3, 4, 5].map((generation) => [generation, ['pro'], 0]), [6, [], 1]]);
  });
});

test('invalid rows are ignored with their reason, and the last valid ones stay in effect', async () => {
  await setPlan({ per_key: { requests_per_minute: 1 } });
  const gateway = await start({
    SVC_OBSERVABILITY_OTEL_PROMETHEUS_ENABLED: 'true',
    SVC_OBSERVABILITY_OTEL_PROMETHEUS_PUBLIC: 'true',
  });
  await operator.query(`UPDATE plans SET limits = jsonb_set(limits, '{gateway,per_key,requests_per_minute}', '"many"')`);
  const line = await waitUntil(() => gateway.log.find((one) => one.includes('plans ignored: invalid document')), {
    what: 'the line',
  });
  expect(line).toMatch(/plans\.pro\.gateway\.per_key\.requests_per_minute: must be a number, not a string/);
  expect([await send(gateway), await send(gateway)]).toEqual([200, 'KEY_RATE_LIMIT_EXCEEDED']);
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(/^svc_plans_applied_generation(?:\{[^}]*\})? 1$/m);
});
