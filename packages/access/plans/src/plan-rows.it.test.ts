import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { deletePlan, planUse, raisePlanGeneration, upsertPlan } from './plan-changes.ts';
import { planDocument } from './plan-document.ts';
import { planLimits } from './plan-limits.ts';
import { PLAN_CHANNEL, readPlanGeneration, readPlanRows } from './plan-rows.ts';

const limits = planLimits.parse({
  rpm: 120,
  concurrency: 5,
  freshnessDays: 30,
  historyDays: 90,
  enrichBatchMax: 100,
  liveRefreshesPerPeriod: 100,
});
const other = planLimits.parse({ ...limits, rpm: 121, gateway: { per_key: { max_cost_usd_per_day: 0.1 } } });

let stack: AsyncDisposableStack;
let database: TestDatabase;
let operator: PostgresPool;
let gateway: PostgresPool;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  database = stack.use(await templateDatabase());
  operator = poolOf('vitrine_operator');
  gateway = poolOf('vitrine_gateway');
});
afterEach(() => stack.disposeAsync());

/** A pool with the rights of a service. */
function poolOf(role: string): PostgresPool {
  const url = new URL(database.dsn.reveal());
  url.searchParams.set('options', `-c role=${role}`);
  return stack.use(new PostgresPool({ dsn: new Secret(url.href), applicationName: 'test' }));
}

const change = <T>(work: (transaction: Transaction) => Promise<T>) => operator.transaction(work);
const upsert = (name: string, of = limits) => change((transaction) => upsertPlan(transaction, name, of));
const remove = (name: string) => change((transaction) => deletePlan(transaction, name));

test('a gateway reads rows of the operator at their generation', async () => {
  expect(await readPlanRows(gateway)).toEqual({ generation: 0, plans: {}, workspaces: [] });
  await upsert('pro', other);
  await upsert('free');
  await operator.query("INSERT INTO workspace_plans VALUES ('acme', 'search', 'pro')");
  const rows = await readPlanRows(gateway);
  expect(rows).toEqual({
    generation: 3,
    plans: { pro: other, free: limits },
    workspaces: [{ org_id: 'acme', workspace_id: 'search', plan: 'pro' }],
  });
  expect(planDocument(rows.generation, rows.plans).plans).toEqual({ pro: other, free: limits });
});

test('every change raises the generation, and an equal row does not', async () => {
  const generationAfter = async (work: () => Promise<unknown>) => {
    await work();
    return await readPlanGeneration(gateway);
  };
  expect(await generationAfter(() => upsert('pro'))).toBe(1);
  expect(await generationAfter(() => upsert('pro'))).toBe(1);
  expect(await generationAfter(() => upsert('pro', other))).toBe(2);
  expect(await generationAfter(() => operator.query("INSERT INTO workspace_plans VALUES ('o', 'w', 'pro')"))).toBe(3);
  expect(await generationAfter(() => operator.query("UPDATE workspace_plans SET plan = 'pro'"))).toBe(3);
  expect(await generationAfter(() => operator.query('DELETE FROM workspace_plans'))).toBe(4);
  expect(await generationAfter(() => remove('pro'))).toBe(5);
  expect(await generationAfter(() => remove('pro'))).toBe(5);
});

test('concurrent writes are read in the order of their generations', async () => {
  await Promise.all(Array.from({ length: 8 }, (_, at) => upsert(`plan-${at}`)));
  const { generation, plans } = await readPlanRows(gateway);
  expect([generation, Object.keys(plans).length]).toEqual([8, 8]);
});

test('a change by any process is notified when committed, and not when rolled back', async () => {
  let notified = 0;
  let isListening = false;
  const onMissed = () => (isListening = true);
  stack.use(gateway.listen(PLAN_CHANNEL, { onNotification: () => (notified += 1), onMissed }));
  await waitUntil(() => isListening, { what: 'LISTEN' });
  const failed = change(async (transaction) => {
    await upsertPlan(transaction, 'lost', limits);
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  await change(async (transaction) => {
    for (const name of ['a', 'b', 'c']) await upsertPlan(transaction, name, limits);
  });
  await waitUntil(() => notified === 1, { what: 'one notification of one transaction' });
  await operator.query("UPDATE plans SET limits = jsonb_set(limits, '{rpm}', '5') WHERE name = 'a'");
  await waitUntil(() => notified === 2, { what: 'the notification' });
});

test('a plan that a key or a workspace has is not deleted', async () => {
  await upsert('pro');
  await operator.query(`INSERT INTO gateway_keys (id, org_id, workspace_id, role, permissions, plan, created_at, pepper_version, token_mac,
    revision, changed_by) VALUES ('k', 'o', 'w', 'owner', '{}', 'pro', now(), 1, 'x', 1, 'test')`);
  await operator.query("INSERT INTO workspace_plans VALUES ('o', 'w', 'pro')");
  expect(await remove('pro')).toEqual({ keys: 1, workspaces: 1 });
  await operator.query('UPDATE gateway_keys SET revoked_at = now()');
  expect(await remove('pro')).toEqual({ keys: 0, workspaces: 1 });
  await operator.query('DELETE FROM workspace_plans');
  expect(await planUse(operator, 'pro')).toEqual({ keys: 0, workspaces: 0 });
  expect(await remove('pro')).toBeUndefined();
  expect((await readPlanRows(gateway)).plans).toEqual({});
});

test('the generation of an older copy is raised above the applied one', async () => {
  await upsert('pro');
  await change((transaction) => raisePlanGeneration(transaction, 41));
  expect(await readPlanGeneration(gateway)).toBe(42);
  await change((transaction) => raisePlanGeneration(transaction, 41));
  expect(await readPlanGeneration(gateway)).toBe(42);
});

test('a gateway cannot change plans', async () => {
  const writes = [
    "INSERT INTO plans VALUES ('x', '{}')",
    'UPDATE plan_generation SET generation = 9',
    'DELETE FROM workspace_plans',
  ];
  for (const write of writes) await expect(gateway.query(write)).rejects.toThrow(/permission denied/);
});
