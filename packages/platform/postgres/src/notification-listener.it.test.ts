import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { emptyDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { PostgresPool } from './postgres-pool.ts';
import { openTcpProxy } from './testing/tcp-proxy.ts';

let database: TestDatabase;
let sender: PostgresPool;
let pool: PostgresPool;
const seen: string[] = [];
beforeEach(async () => {
  database = await emptyDatabase();
  sender = new PostgresPool({ dsn: database.dsn, applicationName: 'sender' });
  pool = new PostgresPool({ dsn: database.dsn, applicationName: 'listener' });
  seen.length = 0;
});
afterEach(async () => {
  await pool[Symbol.asyncDispose]();
  await sender[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const listen = (of = pool, checkIntervalMs = 10_000) =>
  of.listen('keys', {
    onNotification: (payload) => seen.push(payload),
    onMissed: () => seen.push('missed'),
    onError: () => seen.push('error'),
    checkIntervalMs,
  });
const notify = (payload: string) => sender.query("SELECT pg_notify('keys', $1)", [payload]);
const untilSeen = (...expected: string[]) =>
  waitUntil(() => JSON.stringify(seen) === JSON.stringify(expected), { what: `${expected.join()}; got ${seen.join()}` });

test('notifications arrive, and a lost connection is reported because some may have been missed', async () => {
  await using _listener = listen();
  await untilSeen('missed');
  await notify('first');
  await untilSeen('missed', 'first');
  await sender.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listener'");
  await untilSeen('missed', 'first', 'error', 'missed');
  await notify('second');
  await untilSeen('missed', 'first', 'error', 'missed', 'second');
});

test('a silently lost server is detected', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await using behind = new PostgresPool({ dsn: proxy.dsn, applicationName: 'behind' });
  await using _listener = listen(behind, 20);
  await untilSeen('missed');
  proxy.freeze();
  await untilSeen('missed', 'error', 'missed');
});

test('a disposed listener leaves no connection', async () => {
  const listener = listen();
  await untilSeen('missed');
  await listener[Symbol.asyncDispose]();
  expect(await sender.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'listener'")).toEqual([]);
  await notify('late');
  expect(seen).toEqual(['missed']);
});
