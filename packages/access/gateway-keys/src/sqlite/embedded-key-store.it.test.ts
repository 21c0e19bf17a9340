import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { copyFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditEvent, newKey } from '../testing/key-rows.ts';
import { EmbeddedKeyStore } from './embedded-key-store.ts';

test('opens nothing before the first call, which creates its folder', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'not', 'yet', 'gateway-keys.db');
  await using store = new EmbeddedKeyStore({ path });
  expect(existsSync(join(folder.path, 'not'))).toBe(false);
  expect(await store.list(undefined)).toEqual([]);
  expect(existsSync(path)).toBe(true);
});

test('removal of old events creates no file', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  await using store = new EmbeddedKeyStore({ path });
  expect([await store.advanceRetention(), await store.removeAuditBefore(1)]).toEqual([undefined, []]);
  expect(existsSync(path)).toBe(false);
});

test('two processes can open a new file at once', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  await using one = new EmbeddedKeyStore({ path });
  await using two = new EmbeddedKeyStore({ path });
  expect(await Promise.all([one.list(undefined), two.list(undefined)])).toEqual([[], []]);
});

test('a file that is not a database is a fault, and is used again once it is one', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  writeFileSync(path, 'these are my notes. '.repeat(200));
  await using store = new EmbeddedKeyStore({ path });
  expect(codeOf(await store.list(undefined).catch((error: unknown) => error))).toBe('key_store_unavailable');
  writeFileSync(path, '');
  expect(await store.list(undefined)).toEqual([]);
});

test('a removed file is a fault, and its replacement is notified and used', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  await using store = new EmbeddedKeyStore({ path });
  await store.create(newKey('old'), [newKey('old')], auditEvent());
  let notified = 0;
  using _watching = store.watch(() => (notified += 1));
  const before = await store.changes(0);
  {
    await using other = new EmbeddedKeyStore({ path: join(folder.path, 'other.db') });
    await other.create(newKey('new'), [newKey('new')], auditEvent());
  }
  for (const suffix of ['', '-wal', '-shm']) renameSync(path + suffix, `${path}.away${suffix}`);
  const codeOfList = async () => codeOf(await store.list(undefined).catch((error: unknown) => error));
  expect(await codeOfList()).toBe('key_store_unavailable');
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, '');
  expect(await codeOfList()).toBe('key_store_unavailable');
  copyFileSync(join(folder.path, 'other.db'), path);
  expect((await store.list(undefined)).map(({ id }) => id)).toEqual(['new']);
  await waitUntil(() => notified > 0, { what: 'the other file to be noticed' });
  const after = await store.changes(before.revision);
  expect(after.revision).toBe(before.revision);
  expect(after.store).not.toBe(before.store);
});
