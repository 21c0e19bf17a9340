import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { Lease } from './runtime/leader-election.ts';
import { failing, startFakeApiServer, type FakeApiServer } from './testing/fake-api-server.ts';
import { startTestOperator, type TestOperator } from './testing/start-test-operator.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/vitrine/leases/vitrine-operator';
const SLOW_MS = 20_000;

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
const becomes = (operator: TestOperator, status: number, body: object) =>
  waitUntil(async () => JSON.stringify(await operator.probe('/readyz')) === JSON.stringify([status, body]), {
    what: `${status} ${JSON.stringify(body)}`,
    timeoutMs: SLOW_MS,
  });
const leads = (operator: TestOperator) => becomes(operator, 200, { status: 'ready', role: 'leader' });
async function epochRow(): Promise<{ epoch: number; holder: string } | undefined> {
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  return (await pool.query<{ epoch: number; holder: string }>('SELECT epoch, holder FROM operator_leadership'))[0];
}

test('of two operators one leads and the other is a ready standby, which leads as soon as the first has stopped', async () => {
  const first = stack.use(await startTestOperator(fake, database.dsn));
  await leads(first);
  const firstHolder = holder();
  expect(await first.metrics()).toMatch(/leader_election_master_status\{.*name="vitrine-operator".*\} 1/);
  expect(await epochRow()).toEqual({ epoch: 1, holder: firstHolder });
  const second = stack.use(await startTestOperator(fake, database.dsn));
  await becomes(second, 200, { status: 'ready', role: 'standby' });
  await first[Symbol.asyncDispose]();
  await leads(second);
  expect([await epochRow(), holder() === firstHolder]).toEqual([{ epoch: 2, holder: holder() }, false]);
});

test('a leader without a database is live and not ready, and says what it waits for', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  const operator = stack.use(await startTestOperator(fake, proxy.dsn));
  await waitUntil(async () => (await operator.probe('/readyz'))[0] === 503, { what: 'unreadiness' });
  expect((await operator.probe('/readyz'))[1]['error']).toMatch(/^(?:waiting for|not connected to) the database/);
  expect(await operator.probe('/livez')).toEqual([200, { status: 'live', role: 'leader' }]);
  await proxy.open();
  await leads(operator);
});

test('an operator starts before the API server, and counts its failed requests', async () => {
  fake.fault = failing(503, 'ServiceUnavailable', 2, () => true);
  const operator = stack.use(await startTestOperator(fake, database.dsn));
  await leads(operator);
  expect(await operator.metrics()).toMatch(/rest_client_requests_total\{.*code="503".*method="GET".*\} 2/);
  expect(operator.log.some((line) => line.includes('leader election failed'))).toBe(true);
});

test('a leader whose Lease was taken ends, and does not give it back', async () => {
  const operator = stack.use(await startTestOperator(fake, database.dsn));
  await leads(operator);
  fake.put(LEASE, { spec: { holderIdentity: 'other', leaseTransitions: 9, leaseDurationSeconds: 1 } });
  await operator.lost;
  await operator[Symbol.asyncDispose]();
  expect(holder()).toBe('other');
});
