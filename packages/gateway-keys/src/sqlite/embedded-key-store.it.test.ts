import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { copyFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedKeyStore } from './embedded-key-store.ts';

const event = {
  at: 1,
  actor: 'system',
  action: 'gateway_key.create',
  target: 'k',
  outcome: 'allow',
  reason: '',
  correlation_id: 'c',
  org_id: 'a',
  workspace_id: 'w',
} as const;
const key = (id: string) => ({
  id,
  org_id: 'a',
  workspace_id: 'w',
  name: undefined,
  description: undefined,
  created_by: 'system',
  role: 'owner',
  permissions: [],
  plan: undefined,
  created_at: 1,
  managed_by: undefined,
  managed_resource: undefined,
  pepper_version: 1,
  token_mac: new Uint8Array(Buffer.from(`mac of ${id}`)),
});

test('opens nothing before the first question, and makes its folder then', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'not', 'yet', 'gateway-keys.db');
  await using store = new EmbeddedKeyStore(path);
  expect(existsSync(join(folder.path, 'not'))).toBe(false);
  expect(await store.list(undefined)).toEqual([]);
  expect(existsSync(path)).toBe(true);
});

test('tells when another process has written, and not of its own changes', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  await using store = new EmbeddedKeyStore(path);
  await using other = new EmbeddedKeyStore(path);
  let told = 0;
  await store.create(key('own'), [key('own')], event);
  using _watching = store.watch(() => (told += 1));
  // The watch asked before this, in the order of calls.
  await store.create(key('second'), [key('second')], event);
  expect(told).toBe(0);
  expect(await other.revoke('own', undefined, event)).toEqual({ kind: 'revoked', revision: 3 });
  await waitUntil(() => told === 1, { what: 'the other process to be noticed' });
  expect(await store.changes(2)).toMatchObject({ revoked: [{ id: 'own', revision: 3 }] });
});

test('two processes that open a new file at once both can', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  await using one = new EmbeddedKeyStore(path);
  await using two = new EmbeddedKeyStore(path);
  expect(await Promise.all([one.list(undefined), two.list(undefined)])).toEqual([[], []]);
});

test('a file that is no database is a fault, and is used again when it is one', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  writeFileSync(path, 'these are my notes. '.repeat(200));
  await using store = new EmbeddedKeyStore(path);
  expect(codeOf(await store.list(undefined).catch((error: unknown) => error))).toBe('key_store_unavailable');
  writeFileSync(path, '');
  expect(await store.list(undefined)).toEqual([]);
});

test('a file that was taken away is missed, and the one in its place is told of and used', async () => {
  await using folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  await using store = new EmbeddedKeyStore(path);
  await store.create(key('old'), [key('old')], event);
  let told = 0;
  using _watching = store.watch(() => (told += 1));
  const before = await store.changes(0);
  {
    await using other = new EmbeddedKeyStore(join(folder.path, 'other.db'));
    await other.create(key('new'), [key('new')], event);
  }
  for (const suffix of ['', '-wal', '-shm']) renameSync(path + suffix, `${path}.away${suffix}`);
  const codeOfList = async () => codeOf(await store.list(undefined).catch((error: unknown) => error));
  expect(await codeOfList()).toBe('key_store_unavailable');
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, '');
  expect(await codeOfList()).toBe('key_store_unavailable');
  copyFileSync(join(folder.path, 'other.db'), path);
  expect((await store.list(undefined)).map(({ id }) => id)).toEqual(['new']);
  await waitUntil(() => told > 0, { what: 'the other file to be noticed' });
  const after = await store.changes(before.revision);
  expect(after.revision).toBe(before.revision);
  expect(after.store).not.toBe(before.store);
});
