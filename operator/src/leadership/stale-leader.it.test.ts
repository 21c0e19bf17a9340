import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { KubernetesClient } from '../runtime/kubernetes-client.ts';
import { startFakeApiServer, type FakeApiServer } from '../testing/fake-api-server.ts';
import { startOperatorProcess, type OperatorProcess } from '../testing/operator-process.ts';
import { startTestOperator } from '../testing/start-test-operator.ts';
import { fenceKubernetesClient } from './fences.ts';

const KEY = '/apis/vitrine.dev/v1alpha1/namespaces/team-a/gatewaykeys/ci';
const SECRET = '/api/v1/namespaces/team-a/secrets/ci-gateway-key';
/** The Lease of a killed process expires after 15 s on an idle machine. */
const TAKE_OVER_MS = 120_000;
const TEST_TIMEOUT_MS = 240_000;

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await startFakeApiServer());
});
afterEach(() => stack.disposeAsync());

test('writes are refused after the Lease has expired; reads are not', async () => {
  const server = stack.use(new KubernetesClient(fake.config, 'test'));
  let [remainingMs, losses] = [1_000, 0];
  const fenced = fenceKubernetesClient(server, { remainingMs: () => remainingMs }, () => (losses += 1));
  fake.put(SECRET);
  const write = () =>
    fenced.request({ method: 'PATCH', path: SECRET, patch: 'merge', body: {} }).then(
      () => 'written',
      (error: unknown) => codeOf(error),
    );
  const outcomes = [await write()];
  remainingMs = 0.5;
  outcomes.push(await write(), await write());
  await fenced.request({ method: 'GET', path: SECRET });
  expect([outcomes, losses]).toEqual([['written', 'leadership_lost', 'leadership_lost'], 2]);
  expect(fake.requests).toEqual([`PATCH ${SECRET}`, `GET ${SECRET}`]);
});

test('a write without a response is cancelled when the Lease ends', async () => {
  const server = stack.use(new KubernetesClient(fake.config, 'test'));
  const fenced = fenceKubernetesClient(server, { remainingMs: () => 50 }, () => {});
  fake.fault = () => true;
  await expect(fenced.request({ method: 'POST', path: SECRET, body: {} })).rejects.toThrow(/timeout/);
});

test(
  'an operator that is paused in a pass and replaced writes no object when it goes on, and ends',
  async () => {
    const database = stack.use(await templateDatabase());
    const folder = stack.use(await temporaryFolder('vitrine-stale-leader'));
    const paused = fake.config;
    paused.users = [{ name: 'test', token: 'paused' }];
    const written: string[] = [];
    fake.fault = ({ method, headers }, _response, { pathname }) => {
      const isWrite = method !== 'GET' && !pathname.includes('/leases');
      if (isWrite && headers.authorization === 'Bearer paused') written.push(`${method} ${pathname}`);
      return false;
    };
    fake.put('/api/v1/namespaces/team-a', { metadata: { labels: { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'w' } } });
    fake.put(KEY, { spec: {} });
    const former = await stoppedWhileItReadsRows(() => startOperatorProcess(folder.path, paused, database.dsn), database);
    stack.use(await startTestOperator(fake, database.dsn));
    const isReady = () => JSON.stringify(fake.read(KEY)?.status ?? {}).includes('"Registered"');
    await waitUntil(isReady, { what: 'the key of the next leader', timeoutMs: TAKE_OVER_MS });
    former.signal('SIGCONT');
    expect(await former.ended).toBe(1);
    expect(written).toEqual([]);
    expect(former.log.join('')).toContain('leadership lost');
  },
  TEST_TIMEOUT_MS,
);

/** Timers of a process that goes on come before what it has received: a pass has to be in a statement, whose timeout does not end it. */
async function stoppedWhileItReadsRows(start: () => Promise<OperatorProcess>, { dsn }: TestDatabase): Promise<OperatorProcess> {
  await using pool = new PostgresPool({ dsn, applicationName: 'test' });
  const waiting = `SELECT count(*) AS n FROM pg_locks WHERE NOT granted
                      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  return await pool.transaction(async (transaction) => {
    await transaction.execute('LOCK TABLE gateway_keys IN ACCESS EXCLUSIVE MODE');
    const operator = stack.use(await start());
    const waits = async () => ((await pool.query<{ n: number }>(waiting))[0]?.n ?? 0) > 0;
    await waitUntil(waits, { what: 'a pass that reads rows' });
    operator.signal('SIGSTOP');
    return operator;
  });
}
