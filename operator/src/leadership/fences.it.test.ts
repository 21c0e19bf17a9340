import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { asOperator } from '../testing/start-test-operator.ts';
import { fenceDatabase, takeEpoch } from './fences.ts';

let database: TestDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await templateDatabase();
  pool = new PostgresPool({ dsn: asOperator(database.dsn), applicationName: 'test' });
});
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const INSERT =
  "INSERT INTO audit_events (at, actor, action, target, outcome, reason, correlation_id, org_id, workspace_id) VALUES (now(), 'operator', $1, '', 'allow', '', '', '', '')";
const written = async () =>
  (await pool.query<{ action: string }>('SELECT action FROM audit_events ORDER BY number')).map(({ action }) => action);

test('a former leader changes nothing and detects its loss of leadership', async () => {
  let losses = 0;
  const former = fenceDatabase(pool, await takeEpoch(pool, 'former'), () => (losses += 1));
  await former.transaction((transaction) => transaction.execute(INSERT, ['while it leads']));
  const leader = fenceDatabase(pool, await takeEpoch(pool, 'leader'), () => {});
  const failure: unknown = await former
    .transaction((transaction) => transaction.execute(INSERT, ['afterwards']))
    .catch((error: unknown) => error);
  await leader.transaction((transaction) => transaction.execute(INSERT, ['of the leader']));
  expect([codeOf(failure), losses]).toEqual(['leadership_lost', 1]);
  expect(await written()).toEqual(['while it leads', 'of the leader']);
});

test('a leader changes nothing in a recreated database in which another has taken the same epoch', async () => {
  let losses = 0;
  const former = fenceDatabase(pool, await takeEpoch(pool, 'former'), () => (losses += 1));
  await pool.execute("UPDATE operator_leadership SET epoch = epoch - 1, holder = ''", []);
  await takeEpoch(pool, 'leader of the new one');
  const before = await written();
  await expect(former.transaction((transaction) => transaction.execute(INSERT, ['of another database']))).rejects.toThrow(
    /replaced/,
  );
  expect([losses, await written()]).toEqual([1, before]);
});

test('the next leader begins after what the former had begun is committed', async () => {
  const former = fenceDatabase(pool, await takeEpoch(pool, 'former'), () => {});
  const order: string[] = [];
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const writing = former.transaction(async (transaction) => {
    await transaction.execute(INSERT, ['begun before']);
    begin();
    await mayEnd;
    order.push('committed');
  });
  await begun;
  const taking = takeEpoch(pool, 'next').then(() => order.push('taken'));
  // The statement that takes the epoch has to wait in the server before the transaction may end.
  let waits = 0;
  while (waits === 0) {
    const [row] = await pool.query<{ n: number }>('SELECT count(*) AS n FROM pg_locks WHERE NOT granted');
    waits = row?.n ?? 0;
  }
  end();
  await Promise.all([writing, taking]);
  expect(order).toEqual(['committed', 'taken']);
});
