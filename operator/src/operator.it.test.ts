import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { endureSilence } from '@vitrine/postgres/testing/endure-silence';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { getPromptly } from '@vitrine/testkit/get-promptly';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { Lease } from './runtime/leader-election.ts';
import { failing, startFakeApiServer, type FakeApiServer } from './testing/fake-api-server.ts';
import { startTestOperator, type TestOperator } from './testing/start-test-operator.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/vitrine/leases/vitrine-operator';

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
let database: TestDatabase;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  database = stack.use(await templateDatabase());
  fake = stack.use(await startFakeApiServer());
});
afterEach(() => stack.disposeAsync());

const holder = () => (fake.read(LEASE) as Lease | undefined)?.spec?.holderIdentity ?? '';
const becomes = (operator: TestOperator, wanted: object) =>
  waitUntil(async () => JSON.stringify(await healthOf(operator)) === JSON.stringify(wanted), { what: JSON.stringify(wanted) });
async function healthOf(operator: TestOperator) {
  const [, { status, reasons, role }] = await operator.get('/api/health');
  return { status, role, ...(reasons !== undefined && { reasons }) };
}
const leads = (operator: TestOperator) => becomes(operator, { status: 'ok', role: 'leader' });
async function epochRow(): Promise<{ epoch: number; holder: string } | undefined> {
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  return (await pool.query<{ epoch: number; holder: string }>('SELECT epoch, holder FROM operator_leadership'))[0];
}

test('one of two operators leads, and the other is a ready standby that leads as soon as the first has stopped', async () => {
  const first = stack.use(await startTestOperator(fake, database.dsn));
  await leads(first);
  const firstHolder = holder();
  expect(await first.metrics()).toMatch(/leader_election_master_status\{.*name="vitrine-operator".*\} 1/);
  expect(await epochRow()).toEqual({ epoch: 1, holder: firstHolder });
  const second = stack.use(await startTestOperator(fake, database.dsn));
  await becomes(second, { status: 'ok', role: 'standby' });
  await first[Symbol.asyncDispose]();
  await leads(second);
  expect([await epochRow(), holder() === firstHolder]).toEqual([{ epoch: 2, holder: holder() }, false]);
});

test('a leader without a database is live, ready and degraded, and reports what it waits for', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  const operator = stack.use(await startTestOperator(fake, proxy.dsn));
  await becomes(operator, { status: 'degraded', role: 'leader', reasons: ['database_unavailable'] });
  expect(await operator.get('/livez')).toEqual([200, { status: 'live' }]);
  expect(await operator.get('/readyz')).toEqual([200, { status: 'ready' }]);
  await proxy.open();
  await leads(operator);
});

test('while the database accepts connections but never answers, an operator responds at once, reports it, and recovers', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  proxy.hang();
  const operator = stack.use(await startTestOperator(fake, proxy.dsn));
  await waitUntil(async () => (await healthOf(operator)).status === 'degraded', { what: 'leadership' });
  expect((await getPromptly(`${operator.url}/livez`))[0]).toBe(200);
  expect((await getPromptly(`${operator.url}/api/health`))[1]['reasons']).toEqual(['database_unavailable']);
  await proxy.open();
  await leads(operator);
  await endureSilence(operator.url, proxy);
}, 240_000);

test('an operator starts before the API server, and counts its failed requests', async () => {
  fake.fault = failing(503, 'ServiceUnavailable', 2, () => true);
  const operator = stack.use(await startTestOperator(fake, database.dsn));
  await leads(operator);
  expect(await operator.metrics()).toMatch(/rest_client_requests_total\{.*code="503".*method="GET".*\} 2/);
  expect(operator.log.some((line) => line.includes('leader election failed'))).toBe(true);
});

test('a leader whose Lease was taken ends without releasing it', async () => {
  const operator = stack.use(await startTestOperator(fake, database.dsn));
  await leads(operator);
  fake.put(LEASE, { spec: { holderIdentity: 'other', leaseTransitions: 9, leaseDurationSeconds: 1 } });
  await operator.lost;
  await operator[Symbol.asyncDispose]();
  expect(holder()).toBe('other');
});

test('a GatewayKey is ready after one pass; its Secret, its namespace and its annotations are watched', async () => {
  const operator = stack.use(await startTestOperator(fake, database.dsn));
  await leads(operator);
  const key = '/apis/vitrine.dev/v1alpha1/namespaces/team-a/gatewaykeys/ci';
  const secret = '/api/v1/namespaces/team-a/secrets/ci-gateway-key';
  const namespace = (workspace: string) => {
    const labels = { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': workspace };
    fake.put('/api/v1/namespaces/team-a', { metadata: { labels } });
  };
  const status = () => (fake.read(key)?.status ?? {}) as { workspaceId?: string; conditions?: { status: string }[] };
  const token = () => (fake.read(secret) as { data?: { token?: string } } | undefined)?.data?.token;
  const passes = async () => {
    const [, count] = /controller_runtime_reconcile_total\{.*result="success".*\} (\d+)/.exec(await operator.metrics()) ?? [];
    return Number(count);
  };
  namespace('search');
  fake.put(key, { spec: {} });
  await waitUntil(() => status().conditions?.[0]?.status === 'True', { what: 'readiness' });
  await waitUntil(async () => (await passes()) > 0, { what: 'the end of the pass' });
  // When the watches have delivered another object, they have delivered everything that the pass wrote.
  fake.put(`${key}-2`, { spec: {} });
  await waitUntil(() => fake.read(secret.replace('ci-', 'ci-2-')) !== undefined, { what: 'the other key' });
  await waitUntil(async () => (await passes()) >= 2, { what: 'the pass of the other key' });
  expect(await passes()).toBe(2);
  const first = token();
  fake.remove(secret);
  await waitUntil(() => token() !== undefined && token() !== first, { what: 'another token' });
  namespace('moved');
  await waitUntil(() => status().workspaceId === 'moved', { what: 'the other workspace' });
  const second = token();
  fake.put(key, { ...fake.read(key), metadata: { ...fake.read(key)?.metadata, annotations: { 'vitrine.dev/rotate': '1' } } });
  await waitUntil(() => token() !== second, { what: 'the rotation' });
  fake.delete(key);
  await waitUntil(() => fake.read(key) === undefined, { what: 'the deletion' });
  expect(operator.log.filter((line) => /"level":"(?:error|warn)"/.test(line))).toEqual([]);
});

test('keys in unwatched namespaces are ignored', async () => {
  const labels = { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'w' };
  for (const namespace of ['team-a', 'team-b']) {
    fake.put(`/api/v1/namespaces/${namespace}`, { metadata: { labels } });
    fake.put(`/apis/vitrine.dev/v1alpha1/namespaces/${namespace}/gatewaykeys/ci`, { spec: {} });
  }
  stack.use(await startTestOperator(fake, database.dsn, { OPERATOR_WATCH_NAMESPACES: 'team-b' }));
  await waitUntil(() => fake.read('/api/v1/namespaces/team-b/secrets/ci-gateway-key') !== undefined, {
    what: 'the Secret',
  });
  expect(fake.requests.filter((request) => request.includes('/team-a'))).toEqual([]);
});
