import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import type { AuditEvent } from '../audit-event.ts';
import type { NewKey } from '../key-store.ts';
import { KEY_DATABASE } from './key-tables.ts';
import { SqliteKeyStore } from './sqlite-key-store.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
let store: SqliteKeyStore;
beforeEach(async () => {
  folder = await temporaryFolder('keys');
  path = join(folder.path, 'gateway-keys.db');
  store = new SqliteKeyStore(path);
});
afterEach(async () => {
  store[Symbol.dispose]();
  await folder[Symbol.asyncDispose]();
});

const T0 = Date.UTC(2026, 0, 1);
const A = { org_id: 'a', workspace_id: 'w' };
const B = { org_id: 'b', workspace_id: 'w' };
const hashOf = (token: string) => ({ pepper_version: 1, token_mac: new Uint8Array(createHash('sha256').update(token).digest()) });
const key = (id: string, fields: Partial<NewKey> = {}): NewKey => ({
  id,
  ...A,
  name: undefined,
  description: undefined,
  created_by: 'system',
  role: 'developer',
  permissions: [],
  plan: undefined,
  created_at: T0,
  managed_by: undefined,
  managed_resource: undefined,
  ...hashOf(`token of ${id}`),
  ...fields,
});
const event = (fields: Partial<AuditEvent> = {}): AuditEvent => ({
  at: T0,
  actor: 'system',
  action: 'gateway_key.create',
  target: 'k',
  outcome: 'allow',
  reason: '',
  correlation_id: 'c',
  ...A,
  ...fields,
});
const create = (id: string, fields: Partial<NewKey> = {}) => {
  const made = key(id, fields);
  return store.create(made, [made], event({ target: id }));
};
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
const events = () => {
  using database = new DatabaseSync(path);
  return database.prepare('SELECT action, target, outcome FROM audit_events ORDER BY number').all();
};

describe('keys', () => {
  test('a key comes back as it was made, also from the file', () => {
    const full = key('full', {
      name: 'n',
      description: 'd',
      permissions: ['keys:manage'],
      plan: 'gold',
      managed_by: 'operator',
      managed_resource: 'GatewayKey team-a/ci',
    });
    const outcome = store.create(full, [full], event());
    store[Symbol.dispose]();
    store = new SqliteKeyStore(path);
    expect(outcome).toEqual({ kind: 'created', row: { ...full, last_used_at: undefined, revision: 1 } });
    expect(store.find('full', A)).toEqual({ ...full, last_used_at: undefined, revision: 1 });
  });

  test('active keys are listed by created_at, then id', () => {
    create('z', { created_at: T0 });
    create('b', { created_at: T0 + 1 });
    create('a', { created_at: T0 + 1 });
    create('gone', { created_at: T0 });
    store.revoke('gone', A, event());
    expect(ids(store.list(A))).toEqual(['z', 'a', 'b']);
  });

  test('ids and tokens are taken for ever, also those of a revoked key, also by another tenant', () => {
    create('once');
    store.revoke('once', A, event());
    expect(create('once', { ...hashOf('another token') })).toEqual({ kind: 'id_taken' });
    expect(create('once', { ...B, ...hashOf('another token') })).toEqual({ kind: 'id_taken' });
    expect(create('twice', { ...hashOf('token of once') })).toEqual({ kind: 'token_taken' });
    expect(store.list(undefined)).toEqual([]);
  });

  test('a token that is known under another pepper is known', () => {
    create('old', hashOf('old pepper'));
    const made = key('new', hashOf('new pepper'));
    expect(store.create(made, [made, hashOf('old pepper')], event())).toEqual({ kind: 'token_taken' });
  });

  test('rotating ends the old token, and neither a token in use nor the present one is taken', () => {
    create('k');
    create('other');
    expect(store.rotate('k', A, [hashOf('token of other')], event())).toEqual({ kind: 'token_taken' });
    expect(store.rotate('k', A, [hashOf('token of k')], event())).toEqual({ kind: 'token_taken' });
    expect(store.rotate('k', A, [hashOf('new')], event())).toMatchObject({ kind: 'rotated', row: { ...hashOf('new'), id: 'k' } });
    expect(store.find('k', A)?.token_mac).toEqual(hashOf('new').token_mac);
  });

  test('a store is full at its bound, and has room again after a revocation', () => {
    store[Symbol.dispose]();
    store = new SqliteKeyStore(path, { maxActiveKeys: 2, maxDenials: 10 });
    create('one');
    create('two');
    expect(create('three')).toEqual({ kind: 'full', maxActiveKeys: 2 });
    store.revoke('one', A, event());
    expect(create('three')).toMatchObject({ kind: 'created' });
  });

  test('last_used_at only goes forward', () => {
    create('k');
    store.markUsed([{ id: 'k', at: T0 + 5 }]);
    store.markUsed([
      { id: 'k', at: T0 + 3 },
      { id: 'nobody', at: T0 },
    ]);
    expect(store.find('k', A)?.last_used_at).toBe(T0 + 5);
  });
});

describe('changes', () => {
  test('from nothing they are the active keys, and afterwards what has changed since', () => {
    create('a');
    create('b');
    create('c');
    store.revoke('a', A, event());
    const first = store.changes(0);
    expect([ids(first.active).toSorted(), first.revoked, first.revision]).toEqual([['b', 'c'], [], 4]);
    store.rotate('b', A, [hashOf('new')], event());
    store.revoke('c', A, event());
    const next = store.changes(first.revision);
    expect([ids(next.active), next.revoked, next.revision]).toEqual([['b'], [{ id: 'c', revision: 6 }], 6]);
    expect(store.changes(6)).toMatchObject({ revision: 6, active: [], revoked: [] });
  });

  test('use is no change', () => {
    create('a');
    store.markUsed([{ id: 'a', at: T0 }]);
    expect(store.changes(1)).toMatchObject({ revision: 1, active: [], revoked: [] });
  });
});

describe('audit', () => {
  test('a change leaves one event, and a refused one none', () => {
    create('a');
    create('a');
    store.rotate('a', A, [hashOf('new')], event({ action: 'gateway_key.rotate', target: 'a' }));
    store.rotate('none', A, [hashOf('newer')], event({ action: 'gateway_key.rotate' }));
    store.revoke('a', B, event({ action: 'gateway_key.revoke' }));
    store.revoke('a', A, event({ action: 'gateway_key.revoke', target: 'a' }));
    expect(events()).toEqual([
      { action: 'gateway_key.create', target: 'a', outcome: 'allow' },
      { action: 'gateway_key.rotate', target: 'a', outcome: 'allow' },
      { action: 'gateway_key.revoke', target: 'a', outcome: 'allow' },
    ]);
  });

  test('old events go, and of denials the oldest beyond their bound; changes stay', () => {
    store[Symbol.dispose]();
    store = new SqliteKeyStore(path, { maxActiveKeys: 2, maxDenials: 2 });
    const denied = [1, 2, 3, 4].map((n) => event({ target: `denied ${n}`, outcome: 'deny', at: T0 + n }));
    store.appendAudit([event({ target: 'old', at: T0 - 1 }), event({ target: 'change' }), ...denied]);
    expect([store.removeAuditBefore(T0), store.removeAuditBefore(T0)]).toEqual([3, 0]);
    expect(events().map(({ target }) => target)).toEqual(['change', 'denied 3', 'denied 4']);
  });

  test('denials of nobody push out none of a known caller, and requests of one no refused change', () => {
    store[Symbol.dispose]();
    store = new SqliteKeyStore(path, { maxActiveKeys: 2, maxDenials: 3 });
    const denied = (actor: string, action: string, target: string) => event({ actor, action, target, outcome: 'deny' });
    store.appendAudit([
      denied('k', 'gateway_key.create', 'refused change'),
      denied('k', 'request', 'refused request'),
      ...Array.from({ length: 20 }, (_, i) => denied('', 'request', `unknown ${i}`)),
    ]);
    while (store.removeAuditBefore(T0) > 0);
    expect(events().map(({ target }) => target)).toEqual([
      'refused change',
      'refused request',
      'unknown 17',
      'unknown 18',
      'unknown 19',
    ]);
    store.appendAudit(Array.from({ length: 20 }, (_, i) => denied('k', 'request', `known ${i}`)));
    while (store.removeAuditBefore(T0) > 0);
    expect(events().map(({ target }) => target)).toEqual([
      'refused change',
      'unknown 17',
      'unknown 18',
      'unknown 19',
      'known 17',
      'known 18',
      'known 19',
    ]);
  });
});

describe('the file', () => {
  test('is kept by two processes at once, and each sees what the other did', () => {
    using other = new SqliteKeyStore(path);
    const before = other.dataVersion();
    create('a');
    expect(ids(other.list(A))).toEqual(['a']);
    expect(other.dataVersion()).not.toBe(before);
    expect(other.revoke('a', A, event())).toEqual({ kind: 'revoked', revision: 2 });
    expect(store.list(A)).toEqual([]);
  });

  test('of a newer version is refused and left alone', () => {
    {
      using database = new DatabaseSync(path);
      database.exec('PRAGMA user_version = 99');
    }
    expect(() => new SqliteKeyStore(path)).toThrow('schema 99');
    using database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 });
  });
});

test('no row of one tenant is ever seen or changed by another, whatever both do', () => {
  const tenant = fc.constantFrom(A, B, { org_id: 'a', workspace_id: 'v' });
  const id = fc.constantFrom('k1', 'k2', 'k3', 'k4');
  const token = fc.constantFrom('t1', 't2', 't3', 't4', 't5');
  const step = fc.record({ kind: fc.constantFrom('create', 'rotate', 'revoke'), tenant, id, token });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      using own = new SqliteKeyStore(':memory:');
      // What must be there: id -> whose it is, its token, and whether it is active.
      const owners = new Map<string, { tenant: typeof A; token: string; isActive: boolean }>();
      const tokens = new Set<string>();
      for (const { kind, tenant: actor, id: target, token: chosen } of steps) {
        const known = owners.get(target);
        const isOwn = known?.tenant === actor && known.isActive;
        const used = event({ ...actor, target });
        if (kind === 'create') {
          const made = key(target, { ...actor, ...hashOf(chosen) });
          const expected = known !== undefined ? 'id_taken' : tokens.has(chosen) ? 'token_taken' : 'created';
          expect(own.create(made, [made], used).kind).toBe(expected);
          if (expected === 'created') owners.set(target, { tenant: actor, token: chosen, isActive: true });
        } else if (kind === 'rotate') {
          const expected = !isOwn ? 'not_found' : tokens.has(chosen) ? 'token_taken' : 'rotated';
          expect(own.rotate(target, actor, [hashOf(chosen)], used).kind).toBe(expected);
          if (expected === 'rotated' && known !== undefined) known.token = chosen;
        } else {
          expect(own.revoke(target, actor, used).kind).toBe(isOwn ? 'revoked' : 'not_found');
          if (isOwn && known !== undefined) known.isActive = false;
        }
        // Never removed: what a key had once is taken for ever.
        for (const one of owners.values()) tokens.add(one.token);
        for (const looker of [A, B]) {
          const mine = [...owners].filter(([, one]) => one.isActive && one.tenant === looker);
          expect(new Map(own.list(looker).map((row) => [row.id, [...row.token_mac]]))).toEqual(
            new Map(mine.map(([one, { token: text }]) => [one, [...hashOf(text).token_mac]])),
          );
          expect(own.find(target, looker)?.id).toBe(mine.some(([one]) => one === target) ? target : undefined);
        }
      }
    }),
  );
});

describe('a file that is no key database', () => {
  const contents = () => readdirSync(folder.path).map((name) => [name, readFileSync(join(folder.path, name)).toString('base64')]);

  test.each([
    [
      'a database of another program',
      'CREATE TABLE users (a); CREATE TABLE orders (b)',
      'the file holds the tables "orders", "users" (user_version 0) and is not a Vitrine key database',
    ],
    [
      'one in WAL mode whose version is ours',
      'PRAGMA journal_mode = WAL; CREATE TABLE users (a); PRAGMA user_version = 1',
      'the file holds the table "users" (user_version 1) and is not a Vitrine key database',
    ],
    [
      'a trace file',
      'CREATE TABLE traces (a); CREATE TABLE payload_pages (a); CREATE TABLE totals (a); PRAGMA user_version = 3',
      'the file holds the tables "payload_pages", "totals", "traces" (user_version 3) and is not a Vitrine key database',
    ],
    ['notes', '', 'the file is text and not an SQLite database'],
  ])('%s is refused by what it is, and nothing is changed', (_, sql, what) => {
    const foreign = join(folder.path, 'foreign.db');
    if (sql === '') writeFileSync(foreign, 'these are my notes');
    else {
      using database = new DatabaseSync(foreign);
      database.exec(sql);
    }
    const before = contents();
    expect(() => new SqliteKeyStore(foreign)).toThrow(what);
    expect(contents()).toEqual(before);
  });

  test('its own file is no trace file', () => {
    const what = /^the file holds the tables "audit_events", "gateway_keys".* and is not a Vitrine trace file$/;
    expect(foreignFile(path, TRACE_FILE)).toMatch(what);
    expect(foreignFile(path, KEY_DATABASE)).toBeUndefined();
  });
});
