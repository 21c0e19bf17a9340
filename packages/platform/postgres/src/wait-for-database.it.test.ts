import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { emptyDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { PostgresPool } from './postgres-pool.ts';
import { openTcpProxy } from './testing/tcp-proxy.ts';
import { waitForDatabase } from './wait-for-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await emptyDatabase();
});
afterAll(async () => database[Symbol.asyncDispose]());

function testLogger() {
  const lines: string[] = [];
  const add = (_: object, message: string) => void lines.push(message);
  return { lines, info: add, warn: add };
}

test('a process that starts before the database waits, reports it in log and readiness, and continues once it is up', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  await using pool = new PostgresPool({ dsn: proxy.dsn, applicationName: 'test' });
  const logger = testLogger();
  let reason: string | undefined;
  const onAttempt = (of: string | undefined) => void (reason = of);
  const waiting = waitForDatabase(pool, { logger, onAttempt, signal: new AbortController().signal });
  await waitUntil(() => pool.figures().errors.connection >= 3, { what: 'three attempts' });
  expect(logger.lines).toEqual(['waiting for the database']);
  expect(reason).toMatch(/^waiting for the database: .*ECONNREFUSED/);
  await proxy.open();
  expect(await waiting).toBe(true);
  expect([logger.lines, reason]).toEqual([['waiting for the database', 'database reached'], undefined]);
});

test('waiting ends with its signal', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  await using pool = new PostgresPool({ dsn: proxy.dsn, applicationName: 'test' });
  const stop = new AbortController();
  const waiting = waitForDatabase(pool, { logger: testLogger(), signal: stop.signal });
  await waitUntil(() => pool.figures().errors.connection >= 1, { what: 'an attempt' });
  stop.abort();
  expect(await waiting).toBe(false);
});

test('permanent errors are thrown', async () => {
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const probe = () => pool.query('SELECT * FROM nothing');
  const error: unknown = await waitForDatabase(pool, { logger: testLogger(), signal: new AbortController().signal, probe }).catch(
    (caught: unknown) => caught,
  );
  expect(codeOf(error)).toBe('42P01');
});
