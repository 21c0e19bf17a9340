import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Condition } from '../runtime/conditions.ts';
import { readPlanDocument, type PlanDocument } from '@vitrine/plans/plan-document';
import { readPlanRows, type PlanRows } from '@vitrine/plans/plan-rows';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy, type TcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { fenceDatabase, takeEpoch } from '../leadership/fences.ts';
import { KubernetesClient } from '../runtime/kubernetes-client.ts';
import { failing, startFakeApiServer, type FakeApiServer } from '../testing/fake-api-server.ts';
import { asOperator, startTestOperator, type TestOperator } from '../testing/start-test-operator.ts';
import { PlanLimitsReconciler } from './plan-limits-controller.ts';
import { FINALIZER, PAUSED, type PlanLimitsObject } from './plan-limits-resource.ts';
import { PlanLimitsRepository } from './plan-limits-repository.ts';

const PLANS = '/apis/vitrine.dev/v1alpha1/namespaces/vitrine/planlimits';
const PRO = `${PLANS}/pro`;
const CONFIG_MAP = '/api/v1/namespaces/vitrine/configmaps/vitrine-plans';
const EVENTS = '/apis/events.k8s.io/v1/namespaces/vitrine/events';
const TIMEOUT_MS = 20_000;

const specOf = (rpm: number) => ({
  rpm,
  concurrency: 5,
  freshnessDays: 30,
  historyDays: 90,
  enrichBatchMax: 100,
  liveRefreshesPerPeriod: 100,
  gateway: { per_key: { requests_per_minute: rpm } },
});

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
let database: TestDatabase;
let proxy: TcpProxy;
let pool: PostgresPool;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await startFakeApiServer());
  database = stack.use(await templateDatabase());
  proxy = stack.use(await openTcpProxy(database.dsn));
  pool = stack.use(new PostgresPool({ dsn: database.dsn, applicationName: 'test' }));
});
afterEach(() => stack.disposeAsync());

const start = async (): Promise<TestOperator> => stack.use(await startTestOperator(fake, proxy.dsn));
const rows = (): Promise<PlanRows> => readPlanRows(pool);
const resource = () => fake.read(PRO) as PlanLimitsObject | undefined;
const condition = (of: string): Condition | undefined => resource()?.status?.conditions?.find(({ type }) => type === of);
const ready = () => condition('Ready');
const reasons = () => fake.paths(EVENTS).map((path) => (fake.read(path) as { reason?: string }).reason);
const becomes = (reason: string) =>
  waitUntil(() => ready()?.reason === reason && ready(), { what: `Ready with the reason ${reason}`, timeoutMs: TIMEOUT_MS });
/** The fake counts generations unless one is given. */
function edit(spec: unknown, more: object = {}): void {
  const { metadata: { generation: _generation, ...metadata } = {}, ...rest } = fake.read(PRO) ?? {};
  fake.put(PRO, { ...rest, metadata: { ...metadata, ...more }, spec });
}
const annotate = (annotations: Readonly<Record<string, string>>) => edit(resource()?.spec, { annotations });
function document(): PlanDocument | undefined {
  const { data } = (fake.read(CONFIG_MAP) as { data?: Readonly<Record<string, string>> } | undefined) ?? {};
  try {
    return readPlanDocument(data?.['plans.json'] ?? '');
  } catch {
    return undefined;
  }
}
/** Runs passes until row and ConfigMap match the resource. */
const applied = (rpm: number) =>
  waitUntil(
    async () => {
      const { generation, plans } = await rows();
      const row = plans['pro'] as { rpm?: number } | undefined;
      const mounted = document();
      return row?.rpm === rpm && mounted?.generation === generation && mounted.plans['pro']?.rpm === rpm;
    },
    { what: `row and ConfigMap with ${rpm}`, timeoutMs: TIMEOUT_MS },
  );

describe('a PlanLimits resource', () => {
  test('becomes a row and the ConfigMap, is updated with changes, and is deleted with both', async () => {
    const operator = await start();
    fake.put(PRO, { spec: specOf(10) });
    await applied(10);
    expect(await becomes('Applied')).toMatchObject({ status: 'True', observedGeneration: 1 });
    expect(resource()).toMatchObject({ metadata: { finalizers: [FINALIZER] }, status: { observedGeneration: 1 } });
    expect(fake.read(CONFIG_MAP)?.metadata).toMatchObject({
      labels: { 'app.kubernetes.io/managed-by': 'vitrine-operator' },
      annotations: { 'vitrine.dev/plans-generation': '1', 'vitrine.dev/plans-checksum': document()?.checksum },
    });
    edit(specOf(20));
    await applied(20);
    await waitUntil(() => resource()?.status?.observedGeneration === 2, { what: 'the status' });
    fake.delete(PRO);
    await waitUntil(() => resource() === undefined, { what: 'the end of the resource' });
    expect(await rows()).toMatchObject({ generation: 3, plans: {} });
    expect(document()).toMatchObject({ generation: 3, plans: {} });
    expect(operator.log.filter((line) => line.includes('reconcile failed'))).toEqual([]);
  });

  test('own writes cause no second pass, and one transition causes one event', async () => {
    const operator = await start();
    fake.put(PRO, { spec: specOf(10) });
    await becomes('Applied');
    await waitUntil(() => fake.paths(EVENTS).length === 1, { what: 'the event' });
    // The ConfigMap was changed, which causes one pass without work.
    const passes = async () =>
      Number(/reconcile_total\{.*planlimits.*success.*\} (\d+)/.exec(await operator.metrics())?.[1] ?? 0);
    await waitUntil(async () => (await passes()) === 2, { what: 'two passes' });
    edit(specOf(11));
    await applied(11);
    await waitUntil(async () => (await passes()) === 4, { what: 'two more passes' });
    const writes = fake.requests.filter((request) => !request.startsWith('GET') && !request.includes('leases'));
    expect(writes).toEqual([
      `PATCH ${PRO}`,
      `PATCH ${CONFIG_MAP}`,
      `PATCH ${PRO}/status`,
      `POST ${EVENTS}`,
      `PATCH ${CONFIG_MAP}`,
      `PATCH ${PRO}/status`,
    ]);
  });

  test('of an older copy of the database is written above the generation that services have applied', async () => {
    await start();
    fake.put(PRO, { spec: specOf(10) });
    for (const rpm of [10, 20, 30]) {
      edit(specOf(rpm));
      await applied(rpm);
    }
    const { generation = 0 } = document() ?? {};
    await pool.query("UPDATE plan_generation SET generation = 1; UPDATE plans SET limits = jsonb_set(limits, '{rpm}', '10')");
    annotate({ poke: '1', [PAUSED]: 'false' });
    await applied(30);
    expect(document()?.generation).toBeGreaterThan(generation);
  });

  test('that is invalid writes nothing, and its condition has the required change', async () => {
    await start();
    fake.put(PRO, { spec: { ...specOf(10), enrichBatchMax: 101 } });
    expect(await becomes('InvalidSpec')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('spec.enrichBatchMax'),
    });
    expect(resource()?.status?.conditions?.map(({ type, status }) => [type, status])).toEqual([
      ['Ready', 'False'],
      ['Stalled', 'True'],
    ]);
    expect([(await rows()).generation, fake.read(CONFIG_MAP), resource()?.metadata?.finalizers]).toEqual([
      0,
      undefined,
      undefined,
    ]);
    edit(specOf(10));
    await applied(10);
    expect(await becomes('Applied')).toBeDefined();
    expect(resource()?.status?.conditions).toHaveLength(1);
  });

  test('that is paused is ignored until it is resumed', async () => {
    await start();
    fake.put(PRO, { metadata: { annotations: { [PAUSED]: 'true' } }, spec: specOf(10) });
    await becomes('Paused');
    expect((await rows()).generation).toBe(0);
    annotate({});
    await applied(10);
  });

  test('that is deleted while a key has the plan stays with its row, until the key is revoked', async () => {
    await start();
    fake.put(PRO, { spec: specOf(10) });
    await becomes('Applied');
    await pool.query(`INSERT INTO gateway_keys (id, org_id, workspace_id, role, permissions, plan, created_at, pepper_version, token_mac,
      revision, changed_by) VALUES ('k', 'o', 'w', 'owner', '{}', 'pro', now(), 1, 'x', 1, 'test')`);
    fake.delete(PRO);
    expect(await becomes('InUse')).toMatchObject({ status: 'False', message: expect.stringContaining('1 active gateway keys') });
    expect(Object.keys((await rows()).plans)).toEqual(['pro']);
    await pool.query('UPDATE gateway_keys SET revoked_at = now()');
    await waitUntil(() => resource() === undefined, { what: 'the end of the resource', timeoutMs: TIMEOUT_MS });
    expect((await rows()).plans).toEqual({});
  }, 60_000);
});

describe('the ConfigMap of the plans', () => {
  test('is repaired when it is edited or deleted', async () => {
    await start();
    fake.put(PRO, { spec: specOf(10) });
    await becomes('Applied');
    const { data: _data, ...rest } = fake.read(CONFIG_MAP) as { data: unknown };
    fake.put(CONFIG_MAP, { ...rest, data: { 'plans.json': '{"generation": 1}' } } as object);
    await applied(10);
    fake.remove(CONFIG_MAP);
    await applied(10);
  });

  test('of another owner is not overwritten', async () => {
    fake.put(CONFIG_MAP, { data: { mine: '1' } } as object);
    await start();
    fake.put(PRO, { spec: specOf(10) });
    await becomes('ConfigMapConflict');
    expect(fake.read(CONFIG_MAP)).toMatchObject({ data: { mine: '1' } });
    expect((await rows()).generation).toBe(0);
    fake.remove(CONFIG_MAP);
    await applied(10);
  });
});

describe('faults', () => {
  test('a pass interrupted at any step is finished by the next', async () => {
    const server = stack.use(new KubernetesClient(fake.config, 'test'));
    const operatorPool = stack.use(new PostgresPool({ dsn: asOperator(database.dsn), applicationName: 'operator' }));
    const fenced = fenceDatabase(operatorPool, await takeEpoch(operatorPool, 'test'), () => {});
    const options = { server, pool: operatorPool, database: fenced, namespace: 'vitrine', configMap: 'vitrine-plans' };
    const { signal } = new AbortController();
    let left = Infinity;
    class CrashingWorld extends PlanLimitsRepository {
      override async apply(...step: Parameters<PlanLimitsRepository['apply']>) {
        left -= 1;
        if (left === 0) throw new Error('crashed before a step');
        const result = await super.apply(...step);
        left -= 1;
        if (left === 0) throw new Error('crashed after a step');
        return result;
      }
    }
    const reconciler = new PlanLimitsReconciler({ server, repository: new CrashingWorld(options), events: { record: () => {} } });
    const passes = async (crashAt: number) => {
      left = crashAt;
      const isCrashed = await reconciler.reconcile('pro', signal).then(
        () => false,
        (error: unknown) => /crashed/.test(String(error)),
      );
      left = Infinity;
      await reconciler.reconcile('pro', signal);
      return isCrashed;
    };
    let crashes = 0;
    for (let crashAt = 1; crashAt <= 6; crashAt += 1) {
      fake.put(PRO, { spec: specOf(crashAt) });
      crashes += Number(await passes(crashAt));
      await applied(crashAt);
      fake.delete(PRO);
      crashes += Number(await passes(crashAt));
      expect([resource(), (await rows()).plans, document()?.plans]).toEqual([undefined, {}, {}]);
    }
    expect(crashes).toBe(12);
  });

  test('an unavailable database is reported in the status, nothing is deleted, and work continues afterwards', async () => {
    await start();
    fake.put(PRO, { spec: specOf(10) });
    await becomes('Applied');
    await proxy.close();
    edit(specOf(20));
    await becomes('DatabaseUnavailable');
    fake.delete(PRO);
    await waitUntil(() => resource()?.metadata?.deletionTimestamp, { what: 'the deletion' });
    expect(resource()?.metadata?.finalizers).toEqual([FINALIZER]);
    await proxy.open();
    await waitUntil(() => resource() === undefined, { what: 'the end of the resource', timeoutMs: TIMEOUT_MS });
    expect((await rows()).plans).toEqual({});
  }, 60_000);

  test('a ConfigMap that the API server refuses is a condition and an event; an applied plan stays ready', async () => {
    const operator = await start();
    fake.fault = failing(
      403,
      'Forbidden',
      Infinity,
      ({ method, url }) => method === 'PATCH' && url?.includes('configmaps') === true,
    );
    fake.put(PRO, { spec: specOf(10) });
    expect(await becomes('Forbidden')).toMatchObject({
      status: 'False',
      observedGeneration: 1,
      message: expect.stringContaining('403'),
    });
    await waitUntil(() => reasons().includes('Forbidden'), { what: 'the event' });
    fake.fault = undefined;
    annotate({ poke: '1', [PAUSED]: 'false' });
    await becomes('Applied');
    fake.fault = failing(429, 'TooManyRequests', Infinity, ({ url }) => url?.includes('configmaps/') === true);
    annotate({ poke: '2', [PAUSED]: 'no' });
    await waitUntil(() => condition('Reconciling')?.reason === 'ApiServerBusy', { what: 'the condition', timeoutMs: TIMEOUT_MS });
    expect(ready()).toMatchObject({ status: 'True', reason: 'Applied' });
    await waitUntil(() => reasons().includes('ApiServerBusy'), { what: 'the event' });
    fake.fault = undefined;
    annotate({ poke: '3', [PAUSED]: '' });
    await waitUntil(() => condition('Reconciling') === undefined, { what: 'the end of the condition', timeoutMs: TIMEOUT_MS });
    expect(operator.log.some((line) => line.includes('reconcile failed'))).toBe(true);
  }, 60_000);

  test('errors and conflicts of the API server, cut watches and a version that is too old: the resource is applied', async () => {
    await start();
    fake.fault = failing(
      500,
      'InternalError',
      2,
      ({ method, url }) => method === 'PATCH' && url?.includes('planlimits') === true,
    );
    fake.put(PRO, { spec: specOf(10) });
    await applied(10);
    fake.fault = failing(409, 'Conflict', 2, ({ url }) => url?.includes('/pro/status') === true);
    fake.cutWatches();
    edit(specOf(20));
    await applied(20);
    await waitUntil(() => resource()?.status?.observedGeneration === resource()?.metadata?.generation, {
      what: 'the status',
      timeoutMs: TIMEOUT_MS,
    });
    fake.fault = failing(410, 'Expired', 2, ({ url }) => url?.includes('planlimits') === true && url.includes('watch'));
    fake.cutWatches();
    edit(specOf(30));
    await applied(30);
  }, 60_000);

  test('a former leader writes nothing and ends', async () => {
    const operator = await start();
    fake.put(PRO, { spec: specOf(10) });
    await becomes('Applied');
    await takeEpoch(pool, 'another process');
    edit(specOf(20));
    await operator.lost;
    expect((await rows()).plans['pro']).toMatchObject({ rpm: 10 });
    expect(document()?.plans['pro']?.rpm).toBe(10);
  });
});
