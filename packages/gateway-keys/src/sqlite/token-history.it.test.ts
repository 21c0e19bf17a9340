import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { AuditEvent } from '../audit-event.ts';
import type { NewKey } from '../key-store.ts';
import { EmbeddedKeyStore } from './embedded-key-store.ts';
import { SqliteKeyStore } from './sqlite-key-store.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder('tokens');
  path = join(folder.path, 'gateway-keys.db');
});
afterEach(async () => folder[Symbol.asyncDispose]());

const A = { org_id: 'a', workspace_id: 'w' };
const B = { org_id: 'b', workspace_id: 'w' };
const hashOf = (token: string, pepper = 1) => ({
  pepper_version: pepper,
  token_mac: new Uint8Array(createHash('sha256').update(`${pepper} ${token}`).digest()),
});
const event: AuditEvent = {
  at: 1,
  actor: 'system',
  action: 'gateway_key.create',
  target: 'k',
  outcome: 'allow',
  reason: '',
  correlation_id: 'c',
  ...A,
};
const key = (id: string, token: string, fields: Partial<NewKey> = {}): NewKey => ({
  id,
  ...A,
  name: undefined,
  description: undefined,
  created_by: 'system',
  role: 'developer',
  permissions: [],
  plan: undefined,
  created_at: 1,
  managed_by: undefined,
  managed_resource: undefined,
  ...hashOf(token),
  ...fields,
});
const create = (store: SqliteKeyStore, id: string, token: string, fields: Partial<NewKey> = {}) => {
  const made = key(id, token, fields);
  return store.create(made, [made], event).kind;
};
const rotate = (store: SqliteKeyStore, id: string, token: string) => store.rotate(id, undefined, [hashOf(token)], event).kind;

/** A key database as version 0.1.0 made it: schema 1, which knows only the tokens that keys have now. */
function makeSchema1(at: string): void {
  using database = new DatabaseSync(at);
  database.exec(readFileSync(new URL('./testdata/keys-schema-1.sql', import.meta.url), 'utf8'));
  const insert = database.prepare(
    `INSERT INTO gateway_keys (id, org_id, workspace_id, role, permissions, created_at, pepper_version, token_mac, revision, revoked_at)
     VALUES (?, 'a', 'w', 'owner', '', 1, 1, ?, ?, ?)`,
  );
  insert.run('active', hashOf('token of active').token_mac, 1, null);
  insert.run('revoked', hashOf('token of revoked').token_mac, 2, 5);
  database.exec(`INSERT INTO audit_events VALUES (1, 7, 'system', 'gateway_key.revoke', 'revoked', 'allow', '', 'c', '', '')`);
}

describe('a token that a key has, or had', () => {
  test('stays taken after it was rotated away, for the same key, the same tenant and any other', () => {
    using store = new SqliteKeyStore(path);
    create(store, 'k', 'first');
    expect([rotate(store, 'k', 'second'), rotate(store, 'k', 'third')]).toEqual(['rotated', 'rotated']);
    for (const old of ['first', 'second']) {
      expect(create(store, 'same-tenant', old)).toBe('token_taken');
      expect(create(store, 'other-tenant', old, B)).toBe('token_taken');
      expect(rotate(store, 'k', old)).toBe('token_taken');
    }
    store.revoke('k', A, event);
    for (const old of ['first', 'second', 'third']) expect(create(store, 'later', old, B)).toBe('token_taken');
  });

  test('stays taken when the file is opened again, and by another process', () => {
    {
      using store = new SqliteKeyStore(path);
      create(store, 'k', 'first');
      rotate(store, 'k', 'second');
    }
    using store = new SqliteKeyStore(path);
    expect(create(store, 'other', 'first', B)).toBe('token_taken');
  });

  test('is known by its hash under an older pepper, and to a process that has only that one', () => {
    using store = new SqliteKeyStore(path);
    create(store, 'old', 'token', hashOf('token', 1));
    const rotated = store.rotate('old', A, [hashOf('next', 2), hashOf('next', 1)], event);
    expect(rotated.kind).toBe('rotated');
    const again = key('new', 'token', hashOf('token', 2));
    expect(store.create(again, [again, hashOf('token', 1)], event).kind).toBe('token_taken');
    // This one was never told of pepper 2, with which the token in use is hashed.
    expect(create(store, 'of an older process', 'next', hashOf('next', 1))).toBe('token_taken');
  });

  test('is free for nobody when a process of an earlier version rotates it away in the same file', () => {
    using store = new SqliteKeyStore(path);
    create(store, 'k', 'first');
    using earlier = new DatabaseSync(path);
    earlier
      .prepare('UPDATE gateway_keys SET pepper_version = ?, token_mac = ?, revision = ? WHERE id = ?')
      .run(1, hashOf('second').token_mac, 2, 'k');
    expect(create(store, 'other', 'first', B)).toBe('token_taken');
    expect(create(store, 'another', 'second', B)).toBe('token_taken');
  });

  test('that differs in case or by a sign is another token', () => {
    using store = new SqliteKeyStore(path);
    create(store, 'k', 'Token');
    expect([create(store, 'l', 'token'), create(store, 'm', 'Token~')]).toEqual(['created', 'created']);
  });

  test('is given to one of two processes that ask for it at once', async () => {
    await using one = new EmbeddedKeyStore(path);
    await using two = new EmbeddedKeyStore(path);
    await Promise.all([one.list(undefined), two.list(undefined)]);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const made = key(`k${i}`, 'wanted by all', i % 2 === 0 ? A : B);
        return (i % 2 === 0 ? one : two).create(made, [made], event);
      }),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['created', ...Array<string>(39).fill('token_taken')]);
  });
});

describe('a database of schema 1', () => {
  test('opens with its keys, and what its active and revoked keys had is taken', () => {
    makeSchema1(path);
    using store = new SqliteKeyStore(path);
    expect(store.list(undefined).map(({ id }) => id)).toEqual(['active']);
    expect(create(store, 'x', 'token of revoked', B)).toBe('token_taken');
    expect(rotate(store, 'active', 'next')).toBe('rotated');
    expect(create(store, 'x', 'token of active', B)).toBe('token_taken');
    expect(create(store, 'revoked', 'new', B)).toBe('id_taken');
  });

  test('that is put back below a running store is migrated too', async () => {
    await using store = new EmbeddedKeyStore(path);
    await store.list(undefined);
    makeSchema1(join(folder.path, 'copy.db'));
    for (const suffix of ['', '-wal', '-shm']) renameSync(path + suffix, `${path}.away${suffix}`);
    copyFileSync(join(folder.path, 'copy.db'), path);
    expect((await store.rotate('active', undefined, [hashOf('next')], event)).kind).toBe('rotated');
    const made = key('x', 'token of active', B);
    expect((await store.create(made, [made], event)).kind).toBe('token_taken');
  });
});
