import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { randomBytes, randomUUID } from 'node:crypto';
import { admitRequest } from '../admission/admit-request.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { createApiKey, listApiKeys, MAX_ACTIVE_KEYS, revokeApiKey, type KeyToCreate, KEY_PRESETS } from './api-keys.ts';
import { createLoginToken, redeemLoginToken } from './login-links.ts';
import { createWorkspace, listWorkspaces } from './workspaces.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const HASHES = new TokenHashes([{ version: 1, secret: new Secret('a pepper of thirty-two characters') }]);

let database: StoreDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await storeDatabase();
  pool = database.as('vitrine_store_api');
});
afterAll(async () => database[Symbol.asyncDispose]());

const workspaceOf = (name: string, at = NOW) =>
  pool.transaction((transaction) =>
    createWorkspace(transaction, {
      name,
      plan: 'pro',
      admin_email: 'ada@example.com',
      gateway_org_id: 'default',
      gateway_workspace_id: 'default',
      at,
      random: randomBytes,
    }),
  );
const create = (workspace_id: string, change: Partial<KeyToCreate> = {}) =>
  pool.transaction((transaction) =>
    createApiKey(transaction, HASHES, {
      workspace_id,
      label: 'ci',
      scopes: KEY_PRESETS.read_only,
      created_by: 'cli',
      expires_at: null,
      at: NOW,
      random: randomBytes,
      ...change,
    }),
  );
const created = async (workspaceId: string, change?: Partial<KeyToCreate>) => {
  const outcome = await create(workspaceId, change);
  if (outcome.kind !== 'created') throw new Error(outcome.kind);
  return outcome;
};
const admit = async (secret: Secret) => {
  const admission = await admitRequest(pool, {
    token: HASHES.all(secret.reveal()),
    scope: 'read:stores',
    lease_id: randomUUID(),
  });
  return admission.outcome;
};

test('a workspace has its first admin, and billing periods that start on its creation day', async () => {
  const { id, anchor_day } = await workspaceOf('acme', Date.UTC(2026, 0, 31, 23, 59));
  expect(anchor_day).toBe(31);
  expect((await listWorkspaces(pool)).find((workspace) => workspace.id === id)).toMatchObject({
    name: 'acme',
    admins: ['ada@example.com'],
  });
});

describe('keys', () => {
  test('a secret is shown once, admits requests, and is stored as a keyed hash only', async () => {
    const workspace = await workspaceOf('keys');
    const { key, secret } = await created(workspace.id);
    expect(secret.reveal()).toMatch(/^svc_live_[A-Za-z0-9_-]{43}$/);
    expect(`${String(secret)} ${JSON.stringify({ secret })}`).toBe('*** {"secret":"***"}');
    expect(key).toMatchObject({
      prefix: secret.reveal().slice(0, 13),
      scopes: ['read:stores', 'read:signals'],
      revoked_at: null,
    });
    expect(await admit(secret)).toBe('admitted');
    const [row] = await database.owner.query<{ text: string }>('SELECT k::text AS text FROM api_keys k WHERE id = $1', [key.id]);
    expect(row?.text).not.toContain(secret.reveal().slice(13));
  });

  test('a revoked key is refused from the next request on, and is listed for 30 days', async () => {
    const workspace = await workspaceOf('revoked');
    const { key, secret } = await created(workspace.id);
    const revoked = await revokeApiKey(pool, key.id, NOW);
    expect(revoked).toEqual({ ...key, revoked_at: NOW });
    expect(await revokeApiKey(pool, key.id, NOW + 1)).toEqual(revoked);
    expect(await admit(secret)).toBe('revoked_key');
    const isListed = async (at: number) => (await listApiKeys(pool, workspace.id, at)).length === 1;
    expect([await isListed(NOW + 29 * DAY_MS), await isListed(NOW + 31 * DAY_MS)]).toEqual([true, false]);
    expect(await revokeApiKey(pool, 'key_unknown', NOW)).toBeUndefined();
  });

  test('a key with an expiry is refused after it', async () => {
    const workspace = await workspaceOf('expired');
    const { secret } = await created(workspace.id, { expires_at: NOW - 1 });
    expect(await admit(secret)).toBe('expired_key');
  });

  test('an unknown workspace has no keys, and the number of keys is bounded, even with concurrent creation', async () => {
    expect(await create('ws_unknown')).toEqual({ kind: 'unknown_workspace' });
    const workspace = await workspaceOf('many');
    const kinds = await Promise.all(Array.from({ length: MAX_ACTIVE_KEYS + 3 }, async () => (await create(workspace.id)).kind));
    expect(kinds.filter((kind) => kind === 'key_limit_reached')).toHaveLength(3);
    const [first] = await listApiKeys(pool, workspace.id, NOW);
    await revokeApiKey(pool, first?.id ?? '', NOW);
    expect((await create(workspace.id)).kind).toBe('created');
  });
});

describe('login links', () => {
  const link = async (name: string, ttlMs = 60_000) => {
    const { id } = await workspaceOf(name);
    const options = { workspace_id: id, email: 'ada@example.com', at: NOW, ttlMs, random: randomBytes };
    const token = await pool.transaction((transaction) => createLoginToken(transaction, HASHES, options));
    if (token === undefined) throw new Error('no member');
    return { id, token };
  };

  test('a link signs its member in only once, for concurrent and later uses', async () => {
    const { id, token } = await link('once');
    const logins = await Promise.all(Array.from({ length: 5 }, () => redeemLoginToken(pool, HASHES, token, NOW)));
    expect(logins.filter((login) => login !== undefined)).toEqual([
      { workspace_id: id, email: 'ada@example.com', role: 'admin' },
    ]);
    expect(await redeemLoginToken(pool, HASHES, token, NOW)).toBeUndefined();
  });

  test('expired and guessed links and those of another pepper are rejected', async () => {
    const { token } = await link('expiry', 1_000);
    const others = new TokenHashes([{ version: 2, secret: new Secret('another pepper of 32 characters or so') }]);
    expect(await redeemLoginToken(pool, others, token, NOW)).toBeUndefined();
    expect(await redeemLoginToken(pool, HASHES, new Secret(`${token.reveal().slice(0, -1)}_`), NOW)).toBeUndefined();
    expect(await redeemLoginToken(pool, HASHES, token, NOW + 1_000)).toBeUndefined();
    expect(await redeemLoginToken(pool, HASHES, token, NOW + 999)).toBeDefined();
  });

  test('a non-member gets no link', async () => {
    const { id } = await workspaceOf('member');
    const options = { workspace_id: id, email: 'eve@example.com', at: NOW, ttlMs: 1_000, random: randomBytes };
    expect(await pool.transaction((transaction) => createLoginToken(transaction, HASHES, options))).toBeUndefined();
  });
});
