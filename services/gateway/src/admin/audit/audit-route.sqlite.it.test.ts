import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { auditEventPage, type AuditEventPage, type ListedAuditEvent } from '@vitrine/gateway-keys/audit-event-page';
import type { AuditEvent } from '@vitrine/gateway-keys/audit-log';
import { SqliteKeyStore } from '@vitrine/gateway-keys/sqlite/sqlite-key-store';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { gatewayCommandLine } from '../../cli/registry.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const ACME = 'acme-owner-token-0123456789';
const BETA = 'beta-owner-token-0123456789';
const VIEWER = 'acme-viewer-token-0123456789';
const YAML = `
auth:
  enabled: true
  keys:
    - {id: acme-owner, token: ${ACME}, org_id: acme, workspace_id: search, role: owner}
    - {id: acme-viewer, token: ${VIEWER}, org_id: acme, workspace_id: search, role: viewer}
    - {id: beta-owner, token: ${BETA}, org_id: beta, workspace_id: search, role: owner}
    - {id: other-room, token: other-room-token-0123456789, org_id: acme, workspace_id: other, role: owner}`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({}, YAML);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

async function call(path: string, token?: string, init: RequestInit = {}, of = gateway) {
  const headers: Record<string, string> = { authorization: 'Bearer sk-test-0123456789', ...(init.headers as object) };
  if (token !== undefined) headers['x-svc-gateway-key'] = token;
  const response = await fetch(of.url + path, { ...init, headers });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as unknown };
}
const page = async (query: string, token?: string, of = gateway): Promise<AuditEventPage> =>
  auditEventPage.parse((await call(`/api/audit-events${query}`, token, {}, of)).body);
const events = async (query = '', token = ACME) => (await page(query, token)).items;
const places = (items: readonly ListedAuditEvent[]) => items.map(({ org_id, workspace_id }) => `${org_id}/${workspace_id}`);
const stored = (at: number, fields: Partial<AuditEvent> = {}): AuditEvent => ({
  at,
  actor: 'acme-owner',
  action: 'request',
  target: `at ${at}`,
  outcome: 'deny',
  reason: 'forbidden',
  correlation_id: '',
  org_id: 'acme',
  workspace_id: 'paged',
  ...fields,
});

describe('GET /api/audit-events', () => {
  test('needs keys:manage', async () => {
    expect((await call('/api/audit-events')).status).toBe(401);
    expect((await call('/api/audit-events', VIEWER)).status).toBe(403);
    expect((await call('/api/audit-events', ACME)).status).toBe(200);
    expect((await call('/api/audit-events', ACME, { method: 'POST' })).status).toBe(405);
  });

  test('lists a change, a rejected one and a denial at once, newest first, with actor, target and reason', async () => {
    const send = (id: string, init: RequestInit) => ({ ...init, headers: { 'x-request-id': id } });
    await call('/api/gateway-keys', ACME, send('one', { method: 'POST', body: '{"id":"seen"}' }));
    await call('/api/gateway-keys', ACME, send('two', { method: 'POST', body: '{"id":"seen"}' }));
    await call('/api/gateway-keys?token=sgk_0123456789abcdef', VIEWER, send('three', {}));
    const items = await events('?limit=3');
    const common = {
      org_id: 'acme',
      workspace_id: 'search',
      id: expect.stringMatching(/^\d+$/),
      at: expect.stringMatching(/Z$/),
    };
    const change = { ...common, actor: 'acme-owner', action: 'gateway_key.create', target: 'seen' };
    expect(items).toEqual([
      {
        ...common,
        actor: 'acme-viewer',
        action: 'request',
        target: 'GET /api/gateway-keys',
        outcome: 'deny',
        reason: 'forbidden',
        correlation_id: 'three',
      },
      { ...change, outcome: 'deny', reason: 'gateway_key_exists', correlation_id: 'two' },
      { ...change, outcome: 'allow', reason: '', correlation_id: 'one' },
    ]);
  });

  test('lists no events of another tenant or workspace, or of anonymous callers', async () => {
    await call('/api/gateway-keys', BETA, { method: 'POST', body: '{}' });
    await call('/api/gateway-keys', 'other-room-token-0123456789', { method: 'POST', body: '{}' });
    await call('/api/traces');
    expect(new Set(places(await events('?limit=200')))).toEqual(new Set(['acme/search']));
    expect(new Set(places(await events('?limit=200', BETA)))).toEqual(new Set(['beta/search']));
    expect(await events('?actor=beta-owner')).toEqual([]);
    // Not even with the cursor of another tenant.
    const theirs = (await page('?limit=1', BETA)).items[0];
    const { next_cursor: cursor = '' } = await page('?limit=1', ACME);
    expect(theirs).toBeDefined();
    expect(new Set(places(await events(`?limit=200&cursor=${cursor}`, BETA))).has('acme/search')).toBe(false);
  });

  test('lists changes made on the command line under the tenant of the key', async () => {
    const made = await call('/api/gateway-keys', ACME, { method: 'POST', body: '{}' });
    const { id } = made.body as { id: string };
    await runCaptured(gatewayCommandLine, ['keys', 'revoke', id], {
      env: { SVC_STORAGE_PATH: join(gateway.folder, 'traces.db') },
    });
    expect((await events('?actor=system'))[0]).toMatchObject({ action: 'gateway_key.revoke', target: id, outcome: 'allow' });
    expect(await events('?actor=system', BETA)).toEqual([]);
  });

  test.each([
    ['action=gateway_key.create', (one: ListedAuditEvent) => one.action === 'gateway_key.create'],
    ['outcome=deny', (one: ListedAuditEvent) => one.outcome === 'deny'],
    ['outcome=allow&action=gateway_key.revoke', (one: ListedAuditEvent) => one.action === 'gateway_key.revoke'],
    ['actor=acme-viewer', (one: ListedAuditEvent) => one.actor === 'acme-viewer'],
  ])('%s returns every matching event and no other', async (query, isMeant) => {
    const all = await events('?limit=200');
    expect(all.length).toBeLessThan(200);
    const items = await events(`?limit=200&${query}`);
    expect(items.length).toBeGreaterThan(0);
    expect(items).toEqual(all.filter(isMeant));
  });

  test('from and to are inclusive, and a date means the whole day', async () => {
    const day = Date.UTC(2026, 0, 5);
    using store = new SqliteKeyStore(join(gateway.folder, 'gateway-keys.db'));
    store.appendAudit([day - 1, day, day + 86_399_999, day + 86_400_000].map((at) => stored(at, { workspace_id: 'search' })));
    const times = async (query: string) => (await events(query)).map(({ at }) => at);
    const both = ['2026-01-05T23:59:59.999Z', '2026-01-05T00:00:00.000Z'];
    expect(await times('?from=2026-01-05&to=2026-01-05')).toEqual(both);
    expect(await times('?from=2026-01-05T00:00:00Z&to=2026-01-05T23:59:59.999Z')).toEqual(both);
  });

  test.each([
    ['limit=201', 'limit must be <= 200'],
    ['limit=x', 'limit must be an integer'],
    ['outcome=maybe', 'invalid outcome: "maybe"'],
    ['action=gateway_key.remove', 'invalid action: "gateway_key.remove"'],
    ['from=yesterday', 'invalid from: expected RFC3339 or YYYY-MM-DD'],
    ['from=2026-01-02&to=2026-01-01', 'to must be greater than or equal to from'],
    ['cursor=nonsense', 'invalid cursor'],
    [`cursor=${Buffer.alloc(15).toString('base64url')}`, 'invalid cursor'],
    [`cursor=${Buffer.alloc(16, 0xff).toString('base64url')}=`, 'invalid cursor'],
    [`cursor=${Buffer.alloc(16, 0x7f).toString('base64url')}`, 'invalid cursor'],
  ])('%s is rejected', async (query, error) => {
    expect(await call(`/api/audit-events?${query}`, ACME)).toEqual({ status: 400, body: { error } });
  });

  test('with authentication off lists everything', async () => {
    await using open = await startTestGateway();
    const now = Date.now();
    const kept = [
      stored(now, { actor: '', org_id: '', workspace_id: '', target: 'of an anonymous caller' }),
      stored(now - 1, { target: 'of a tenant' }),
      stored(now - 2, { org_id: 'beta', target: 'of another' }),
      stored(now - 3, { actor: 'system', org_id: '', workspace_id: '', target: 'of the machine' }),
    ];
    {
      using store = new SqliteKeyStore(join(open.folder, 'gateway-keys.db'));
      store.appendAudit(kept);
    }
    const { items } = await page('', undefined, open);
    expect(items.map(({ target }) => target)).toEqual(kept.map(({ target }) => target));
    await call('/api/gateway-keys', undefined, { method: 'POST', body: '{"org_id":"o"}' }, open);
    expect((await page('?outcome=allow', undefined, open)).items).toMatchObject([{ actor: 'system', org_id: 'o' }]);
  });

  test('works with auth.store: file too, where only denials and rejected changes are stored', async () => {
    await using files = await startTestGateway({ SVC_AUTH_STORE: 'file' }, YAML);
    await call('/api/gateway-keys', VIEWER, {}, files);
    await call('/api/gateway-keys', ACME, { method: 'POST', body: '{"id":"x"}' }, files);
    expect((await page('', ACME, files)).items).toMatchObject([
      { actor: 'acme-owner', action: 'gateway_key.create', target: 'x', reason: 'gateway_keys_read_only' },
      { actor: 'acme-viewer', action: 'request', reason: 'forbidden' },
    ]);
  });

  test('is 503 while the store is not available', async () => {
    await using broken = await startTestGateway();
    const path = join(broken.folder, 'gateway-keys.db');
    expect((await call('/api/audit-events', undefined, {}, broken)).status).toBe(200);
    for (const suffix of ['', '-wal', '-shm']) renameSync(path + suffix, `${path}.away${suffix}`);
    expect(await call('/api/audit-events', undefined, {}, broken)).toEqual({
      status: 503,
      body: { error: 'gateway key store is unavailable' },
    });
  });
});

describe('pages', () => {
  const OWNER = 'paged-owner-token-0123456789';
  const WITH_OWNER = `${YAML}\n    - {id: paged, token: ${OWNER}, org_id: acme, workspace_id: paged, role: owner}`;

  test('list each event once during concurrent writes and retention', async () => {
    await using paged = await startTestGateway({}, WITH_OWNER);
    const path = join(paged.folder, 'gateway-keys.db');
    using store = new SqliteKeyStore(path);
    const now = Date.now();
    // Several events have the same time, which the cursor has to distinguish.
    store.appendAudit(Array.from({ length: 100 }, (_, i) => stored(now - 1_000_000 + Math.floor(i / 7), { target: `${i}` })));
    const seen: string[] = [];
    let cursor: string | undefined = '';
    for (let turn = 0; cursor !== undefined; turn += 1) {
      const read: AuditEventPage = await page(`?limit=9&cursor=${cursor}`, OWNER, paged);
      seen.push(...read.items.map(({ target }) => target));
      cursor = read.next_cursor;
      store.appendAudit([stored(now + turn, { target: 'new' })]);
      if (turn === 4) store.removeAuditBefore(now - 1_000_000 + 3);
    }
    // 45 were read. Of the rest, the oldest 21 were removed.
    expect(seen).toEqual(Array.from({ length: 79 }, (_, i) => `${99 - i}`));
  });

  test('contain 50 by default, and the last has no next_cursor', async () => {
    await using paged = await startTestGateway({}, WITH_OWNER);
    using store = new SqliteKeyStore(join(paged.folder, 'gateway-keys.db'));
    store.appendAudit(Array.from({ length: 51 }, (_, i) => stored(Date.now() - i)));
    const first = await page('', OWNER, paged);
    expect(first.items).toHaveLength(50);
    expect((await page('?limit=0', OWNER, paged)).items).toHaveLength(50);
    const last = await page(`?cursor=${first.next_cursor ?? ''}`, OWNER, paged);
    expect([last.items.length, 'next_cursor' in last]).toEqual([1, false]);
    expect('next_cursor' in (await page('?limit=51', OWNER, paged))).toBe(false);
  });
});
