import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { codeOf } from '@vitrine/faults/fault';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import type { ManagedKeyFields, OwnedKey, TokenOfKey } from '../managed-key.ts';
import type { OpenedKeyStore } from '../testing/key-place.ts';
import { A, B, auditEvent, hashOf, newKey, storedHashOf } from '../testing/key-rows.ts';
import { PostgresManagedKeys } from './postgres-managed-keys.ts';
import { openPostgresPlace } from './testing/postgres-key-place.ts';

const GRACE_MS = 60_000;
const KEY: OwnedKey = { id: 'k', owner_uid: 'uid-1' };
const OTHER: OwnedKey = { id: 'k', owner_uid: 'uid-2' };
const FIELDS: ManagedKeyFields = {
  ...A,
  name: 'ci',
  description: undefined,
  role: 'developer',
  permissions: ['keys:manage'],
  plan: 'pro',
  managed_resource: 'GatewayKey team-a/ci',
};
const tokenOf = (text: string): TokenOfKey => [hashOf(text, 2), hashOf(text, 1)];

let database: TestDatabase;
let pool: PostgresPool;
let gateway: OpenedKeyStore;
let rows: PostgresManagedKeys;
beforeAll(async () => {
  database = await templateDatabase();
  const url = new URL(database.dsn.reveal());
  url.searchParams.set('options', '-c role=vitrine_operator');
  pool = new PostgresPool({ dsn: new Secret(url.href), applicationName: 'test' });
});
beforeEach(async () => {
  gateway = (await openPostgresPlace(database)).open();
  rows = new PostgresManagedKeys(pool);
});
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const seen = async () => (await gateway.changes(0)).active.find(({ id }) => id === 'k');
const audited = async () =>
  (await gateway.listAudit({ limit: 50 })).items.map(({ actor, action }) => `${actor} ${action}`).toReversed();

test('a key is registered, changed and revoked by its resource alone, each with an audit event', async () => {
  expect(await rows.register(KEY, FIELDS, tokenOf('one'))).toBe('registered');
  expect(await seen()).toMatchObject({ ...FIELDS, ...storedHashOf('one', 2), managed_by: 'operator', created_by: 'operator' });
  for (const change of [rows.update(OTHER, FIELDS), rows.revoke(OTHER), rows.release(OTHER), rows.promoteToken(OTHER, 0)])
    expect(await change).toBe(false);
  expect(await rows.stageToken(OTHER, tokenOf('two'))).toBe('not_owned');
  expect(await rows.update(KEY, { ...FIELDS, ...B, role: 'viewer' })).toBe(true);
  expect(await seen()).toMatchObject({ ...B, role: 'viewer' });
  expect([await rows.revoke(KEY), await rows.revoke(KEY), await seen()]).toEqual([true, false, undefined]);
  expect((await rows.read('k'))?.isRevoked).toBe(true);
  expect(await rows.register(KEY, FIELDS, tokenOf('three'))).toBe('id_taken');
  expect(await audited()).toEqual(['create', 'update', 'revoke'].map((action) => `operator gateway_key.${action}`));
});

test('during a rotation the next token is accepted too, afterwards the previous one until its expiry', async () => {
  await rows.register(KEY, FIELDS, tokenOf('one'));
  expect(await rows.stageToken(KEY, tokenOf('lost'))).toBe('written');
  expect(await rows.stageToken(KEY, tokenOf('two'))).toBe('written');
  expect(await seen()).toMatchObject({ ...storedHashOf('one', 2), next: storedHashOf('two', 2) });
  const startedAt = Date.now();
  expect(await rows.promoteToken(KEY, GRACE_MS)).toBe(true);
  const key = await seen();
  expect(key).toMatchObject({ ...storedHashOf('two', 2), previous: storedHashOf('one', 2) });
  expect(key?.next).toBeUndefined();
  expect(Math.abs((key?.previous?.until ?? 0) - startedAt - GRACE_MS)).toBeLessThan(10_000);
  expect(await rows.promoteToken(KEY, GRACE_MS)).toBe(false);
  for (const token of ['one', 'two', 'lost']) expect(await rows.stageToken(KEY, tokenOf(token))).toBe('token_taken');
  expect(await rows.replaceToken(KEY, tokenOf('three'), 0)).toBe('written');
  expect(await audited()).toEqual(['create', 'rotate', 'rotate'].map((action) => `operator gateway_key.${action}`));
});

test('a token of another key is reserved, under either pepper; the own one is not after the row was deleted', async () => {
  await gateway.create(newKey('rest', hashOf('taken', 1)), [hashOf('taken', 1)], auditEvent());
  expect(await rows.register(KEY, FIELDS, tokenOf('taken'))).toBe('token_taken');
  await rows.register(KEY, FIELDS, tokenOf('one'));
  await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'a person in psql' });
  await admin.execute("DELETE FROM gateway_keys WHERE id = 'k'");
  expect(await rows.register({ id: 'other', owner_uid: 'uid-3' }, FIELDS, tokenOf('one'))).toBe('token_taken');
  expect(await rows.register(KEY, FIELDS, tokenOf('one'))).toBe('registered');
});

test('a key revoked by a person returns only with another token, and the revoked one stays rejected', async () => {
  await rows.register(KEY, FIELDS, tokenOf('leaked'));
  await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'a person in psql' });
  await admin.execute("UPDATE gateway_keys SET revoked_at = now() WHERE id = 'k'");
  await rows.stageToken(KEY, tokenOf('new'));
  expect(await seen()).toBeUndefined();
  await rows.promoteToken(KEY, GRACE_MS);
  const key = await seen();
  expect([key?.token_mac, key?.previous]).toEqual([hashOf('new', 2).token_mac, undefined]);
});

test('an unowned key is adopted only in its tenant, and can be released', async () => {
  await gateway.create(newKey('k'), [hashOf('of rest')], auditEvent());
  expect(await rows.adopt(KEY, { ...FIELDS, ...B })).toBe(false);
  expect(await rows.adopt(KEY, FIELDS)).toBe(true);
  expect(await rows.adopt(OTHER, FIELDS)).toBe(false);
  expect(await seen()).toMatchObject({ managed_by: 'operator', name: 'ci', created_by: 'system' });
  expect(await rows.release(KEY)).toBe(true);
  expect((await seen())?.managed_by).toBeUndefined();
  expect(await rows.adopt(OTHER, FIELDS)).toBe(true);
});

test('each of many keys is registered or has its own reason, and no two share an id or a token', async () => {
  const many = [
    ['k', 'one'],
    ['k', 'two'],
    ['l', 'one'],
    ['m', 'three'],
    ['n', 'four'],
  ] as const;
  const keys = many.map(([id, token], n) => ({ key: { id, owner_uid: `uid-${n}` }, fields: FIELDS, token: tokenOf(token) }));
  expect(await new PostgresManagedKeys(pool, pool, 2).registerAll(keys)).toEqual([
    'registered',
    'id_taken',
    'token_taken',
    'registered',
    'full',
  ]);
  const revisions = await rows.revisions();
  expect(revisions.map(({ owner_uid }) => owner_uid).toSorted()).toEqual(['uid-0', 'uid-3']);
  expect(new Set(revisions.map(({ revision }) => revision)).size).toBe(2);
  expect(await seen()).toMatchObject({ ...FIELDS, ...storedHashOf('one', 2), managed_by: 'operator', created_by: 'operator' });
  expect(await audited()).toEqual(['create', 'create'].map((action) => `operator gateway_key.${action}`));
});

test('the bound of active keys is enforced, and faults of the transactions are passed on', async () => {
  expect(await new PostgresManagedKeys(pool, pool, 0).register(KEY, FIELDS, tokenOf('one'))).toBe('full');
  const refused = { transaction: () => Promise.reject(Object.assign(new Error('lost'), { code: 'away' })) };
  const failure: unknown = await new PostgresManagedKeys(pool, refused).revoke(KEY).catch((error: unknown) => error);
  expect(codeOf(failure)).toBe('key_store_unavailable');
});
