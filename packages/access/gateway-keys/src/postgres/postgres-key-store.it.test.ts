import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { inspect } from 'node:util';
import type { KeyPlace } from '../testing/key-place.ts';
import { A, auditEvent, newKey } from '../testing/key-rows.ts';
import { watchKeys } from './key-changes.ts';
import { PostgresKeyStore } from './postgres-key-store.ts';
import { openPostgresPlace } from './testing/postgres-key-place.ts';

let database: TestDatabase;
let place: KeyPlace;
beforeAll(async () => {
  database = await templateDatabase();
});
beforeEach(async () => {
  place = await openPostgresPlace(database);
});
afterAll(async () => database[Symbol.asyncDispose]());

const changeKey = async (id: string) => {
  await using other = place.open();
  const key = newKey(id);
  await other.create(key, [key], auditEvent({ target: id }));
};

test('a change is detected within a second, also one made while LISTEN had lost its connection', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await using pool = new PostgresPool({ dsn: proxy.dsn, applicationName: 'watching' });
  await using store = new PostgresKeyStore(pool);
  let notified = 0;
  using _watching = store.watch(() => (notified += 1));
  await store.changes(0);
  await changeKey('first');
  await waitUntil(() => notified === 1, { what: 'the notification', timeoutMs: 1_000 });
  await proxy.close();
  await changeKey('second');
  await proxy.open();
  await waitUntil(() => notified === 2, { what: 'the change of the meantime' });
  const { active } = await store.changes(0);
  expect(active.map(({ id }) => id).toSorted()).toEqual(['first', 'second']);
});

test('a change without a notification is detected by the poll', async () => {
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'watching' });
  await changeKey('k');
  let notified = 0;
  await using watch = watchKeys(pool, 'this process', () => (notified += 1), 20);
  await watch.ready;
  await pool.query("UPDATE gateway_keys SET revoked_at = now(), revision = revision + 1, changed_by = 'a person in psql'");
  await waitUntil(() => notified === 1, { what: 'the poll' });
});

test('an unavailable database is a fault that names it without its password, and it is used again when it is back', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await using pool = new PostgresPool({ dsn: proxy.dsn, applicationName: 'test' });
  await using store = new PostgresKeyStore(pool);
  await changeKey('k');
  expect(await store.list(A)).toHaveLength(1);
  await proxy.close();
  const error: unknown = await store.list(A).catch((caught: unknown) => caught);
  expect(codeOf(error)).toBe('key_store_unavailable');
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(new URL(database.dsn.reveal()).password || 'no password');
  await proxy.open();
  expect(await store.list(A)).toHaveLength(1);
});
