import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { copyFileSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { auditEvent, B, hashOf, newKey } from '../testing/key-rows.ts';
import { EmbeddedKeyStore } from './embedded-key-store.ts';
import { KEY_MIGRATIONS } from './key-tables.ts';
import { openKeyReader } from './open-key-reader.ts';
import { SqliteKeyStore } from './sqlite-key-store.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder('tokens');
  path = join(folder.path, 'gateway-keys.db');
});
afterEach(async () => folder[Symbol.asyncDispose]());

const create = (store: SqliteKeyStore, id: string, token: string, tenant: object = {}) => {
  const key = newKey(id, { ...tenant, ...hashOf(token) });
  return store.create(key, [key], auditEvent()).kind;
};
const rotate = (store: SqliteKeyStore, id: string, token: string) =>
  store.update(id, undefined, { token: [hashOf(token)] }, auditEvent()).kind;

/** A key database as an earlier version made it. Schema 1 has only the present tokens of keys. */
function makeSchema(at: string, version: number): void {
  using database = new DatabaseSync(at);
  database.exec(readFileSync(new URL(`./testdata/keys-schema-${version}.sql`, import.meta.url), 'utf8'));
  const insert = database.prepare(
    `INSERT INTO gateway_keys (id, org_id, workspace_id, role, permissions, created_at, pepper_version, token_mac, revision, revoked_at)
     VALUES (?, 'a', 'w', 'owner', '', 1, 1, ?, ?, ?)`,
  );
  insert.run('active', hashOf('token of active').token_mac, 1, null);
  insert.run('revoked', hashOf('token of revoked').token_mac, 2, 5);
  database.exec(`INSERT INTO audit_events VALUES (1, 7, 'system', 'gateway_key.revoke', 'revoked', 'allow', '', 'c', '', '')`);
}

test('a token replaced by a process of an earlier version in the same file stays reserved', () => {
  using store = new SqliteKeyStore(path);
  create(store, 'k', 'first');
  using earlier = new DatabaseSync(path);
  earlier
    .prepare('UPDATE gateway_keys SET pepper_version = ?, token_mac = ?, revision = ? WHERE id = ?')
    .run(1, hashOf('second').token_mac, 2, 'k');
  expect(create(store, 'other', 'first', B)).toBe('token_taken');
  expect(create(store, 'another', 'second', B)).toBe('token_taken');
});

test.each(KEY_MIGRATIONS.map((_, i) => i + 1))('commands read a database of schema %i without migrating it', async (version) => {
  makeSchema(path, version);
  using reader = openKeyReader(path);
  expect((await reader.list(undefined)).map(({ id }) => id)).toEqual(['active']);
});

describe('a database of schema 1', () => {
  test('opens with its keys, and what its active and revoked keys had is taken', () => {
    makeSchema(path, 1);
    using store = new SqliteKeyStore(path);
    expect(store.list(undefined).map(({ id }) => id)).toEqual(['active']);
    expect(create(store, 'x', 'token of revoked', B)).toBe('token_taken');
    expect(rotate(store, 'active', 'next')).toBe('updated');
    expect(create(store, 'x', 'token of active', B)).toBe('token_taken');
    expect(create(store, 'revoked', 'new', B)).toBe('id_taken');
  });

  test('that replaces the file of a running store is migrated too', async () => {
    await using store = new EmbeddedKeyStore({ path });
    await store.list(undefined);
    makeSchema(join(folder.path, 'copy.db'), 1);
    for (const suffix of ['', '-wal', '-shm']) renameSync(path + suffix, `${path}.away${suffix}`);
    copyFileSync(join(folder.path, 'copy.db'), path);
    expect((await store.update('active', undefined, { token: [hashOf('next')] }, auditEvent())).kind).toBe('updated');
    const key = newKey('x', { ...B, ...hashOf('token of active') });
    expect((await store.create(key, [key], auditEvent())).kind).toBe('token_taken');
  });
});
