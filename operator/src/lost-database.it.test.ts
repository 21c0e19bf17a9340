import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { readPlanRows } from '@vitrine/plans/plan-rows';
import { migrate } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { MIGRATIONS_FOLDER, templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readConditions, type Condition } from './runtime/conditions.ts';
import { startFakeApiServer, type FakeApiServer } from './testing/fake-api-server.ts';
import { startTestOperator, type TestOperator } from './testing/start-test-operator.ts';

const PLAN = '/apis/vitrine.dev/v1alpha1/namespaces/vitrine/planlimits/pro';
const SPEC = { rpm: 10, concurrency: 5, freshnessDays: 30, historyDays: 90, enrichBatchMax: 100, liveRefreshesPerPeriod: 100 };
const NAMES = ['one', 'two', 'three', 'four', 'five'];
/** Not the 30 s of the promise: the machine may be slow. */
const TIMEOUT_MS = 90_000;

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
let database: TestDatabase;
let operator: TestOperator;
let restarts: number;
let isOver: boolean;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  database = stack.use(await templateDatabase());
  fake = stack.use(await startFakeApiServer());
  [restarts, isOver] = [0, false];
  const supervised = superviseOperator();
  stack.defer(async () => {
    isOver = true;
    await operator[Symbol.asyncDispose]();
    await supervised;
  });
  fake.put('/api/v1/namespaces/team-a', { metadata: { labels: { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'w' } } });
  fake.put(PLAN, { spec: SPEC });
  for (const name of NAMES) fake.put(keyPath(name), { spec: { plan: 'pro' } });
  await allAre('True');
});
afterEach(() => stack.disposeAsync());

/** Starts it again when it ends, as the kubelet does. */
async function superviseOperator(): Promise<void> {
  operator = await startTestOperator(fake, database.dsn);
  void operator.lost.then(async () => {
    if (isOver) return;
    await operator[Symbol.asyncDispose]();
    restarts += 1;
    await superviseOperator();
  });
}

const keyPath = (name: string) => `/apis/vitrine.dev/v1alpha1/namespaces/team-a/gatewaykeys/${name}`;
const secrets = () => NAMES.map((name) => fake.read(`/api/v1/namespaces/team-a/secrets/${name}-gateway-key`));
function ready(path: string): Condition | undefined {
  return readConditions(fake.read(path)?.status as object | undefined).find(({ type }) => type === 'Ready');
}
const allAre = (status: Condition['status']) =>
  waitUntil(() => [PLAN, ...NAMES.map(keyPath)].every((path) => ready(path)?.status === status), {
    what: `Ready ${status} of all`,
    timeoutMs: TIMEOUT_MS,
  });
/** Names of objects with an event of this reason. */
const namesWithEvent = (reason: string) =>
  new Set(
    ['team-a', 'vitrine']
      .flatMap((namespace) => fake.paths(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`))
      .map((path) => fake.read(path) as { reason?: string; regarding?: { name: string } })
      .flatMap((event) => (event.reason === reason ? [event.regarding?.name] : [])),
  );
/** Keys have an event `RowMissing` too where their statuses can be written within 5 s, which a busy machine does not manage
 *  (`lost-keys.ts`). gateway-key.it.test.ts proves that one. */
async function allHaveEvents(): Promise<void> {
  const found = () => ({
    restored: NAMES.filter((name) => namesWithEvent('RowRestored').has(name)),
    isPlanMissing: namesWithEvent('RowMissing').has('pro'),
  });
  const isDone = () => found().restored.length === NAMES.length && found().isPlanMissing;
  // Without them the comparison says which are missing.
  await waitUntil(isDone, { what: 'the events', timeoutMs: TIMEOUT_MS }).catch(() => {});
  expect(found()).toEqual({ restored: NAMES, isPlanMissing: true });
}
async function rows() {
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const keys = await pool.query<{ plan: string }>('SELECT plan FROM gateway_keys WHERE revoked_at IS NULL');
  return { keys: keys.length, plans: Object.keys((await readPlanRows(pool)).plans) };
}
async function sql(text: string, dsn = database.dsn): Promise<readonly object[]> {
  await using pool = new PostgresPool({ dsn, applicationName: 'a person in psql' });
  return await pool.query(text);
}

test('after the database lost all rows, every key and plan reports it and is restored with the same token', async () => {
  const before = secrets();
  const server = new URL(database.dsn.reveal());
  server.pathname = '/postgres';
  await sql(`DROP DATABASE ${database.name} WITH (FORCE)`, new Secret(server.href));
  expect(ready(keyPath('one'))?.status).toBe('True');
  await sql(`CREATE DATABASE ${database.name}`, new Secret(server.href));
  await migrate({ dsn: database.dsn, folder: MIGRATIONS_FOLDER });
  await allHaveEvents();
  await allAre('True');
  expect(namesWithEvent('RowRestored')).toEqual(new Set(NAMES));
  expect([await rows(), secrets()]).toEqual([{ keys: NAMES.length, plans: ['pro'] }, before]);
  expect(restarts).toBe(1);
}, 180_000);

test('rows missing or different in a restored copy are repaired within seconds, without a restart', async () => {
  const before = secrets();
  await sql('DELETE FROM gateway_keys; DELETE FROM plans');
  await allHaveEvents();
  await allAre('True');
  await sql("UPDATE gateway_keys SET role = 'owner', revision = revision + 100, changed_by = 'psql'");
  await waitUntil(async () => (await sql("SELECT FROM gateway_keys WHERE role = 'owner'")).length === 0, {
    what: 'the roles of the resources',
    timeoutMs: TIMEOUT_MS,
  });
  expect([await rows(), secrets(), restarts]).toEqual([{ keys: NAMES.length, plans: ['pro'] }, before, 0]);
}, 180_000);

test('a key created before its plan is ready seconds after the plan', async () => {
  fake.put(keyPath('early'), { spec: { plan: 'growth' } });
  await waitUntil(() => ready(keyPath('early'))?.reason === 'PlanNotFound', { what: 'the reason', timeoutMs: TIMEOUT_MS });
  fake.put(PLAN.replace('/pro', '/growth'), { spec: SPEC });
  await waitUntil(() => ready(keyPath('early'))?.status === 'True', { what: 'readiness', timeoutMs: TIMEOUT_MS });
}, 180_000);
