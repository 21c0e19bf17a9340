import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SqliteKeyStore } from '@vitrine/gateway-keys/sqlite/sqlite-key-store';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TracePage } from '@vitrine/traces/trace';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { rawTalk } from '../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const OWNER = 'owner-token-0123456789-0123456789';
const VIEWER = 'viewer-token-0123456789-0123456789';
const PROXY_ONLY = 'proxy-token-0123456789-0123456789';
const YAML = `
auth:
  enabled: true
  header: X-Team-Key
  keys:
    - {id: owner, token: ${OWNER}, org_id: acme, workspace_id: search, role: owner}
    - {id: viewer, token: ${VIEWER}, org_id: acme, workspace_id: search, role: viewer}
    - {id: robot, token: ${PROXY_ONLY}, org_id: acme, workspace_id: search, role: robot, permissions: [proxy:write]}
`;
const CHAT = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] });

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({}, YAML);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

interface CallOptions {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const call = async (path: string, key?: string, init: CallOptions = {}) => {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    authorization: 'Bearer sk-test-0123456789',
    ...init.headers,
    ...(key === undefined ? {} : { 'x-team-key': key }),
  };
  const response = await fetch(gateway.url + path, {
    ...init,
    headers,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
};
const chat = (key?: string, headers: Record<string, string> = {}) =>
  call('/openai/v1/chat/completions', key, { method: 'POST', body: CHAT, headers });

const OPENAPI = JSON.parse(readFileSync(new URL('../../../../docs/api/gateway.openapi.json', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly security: readonly { readonly GatewayKey: readonly string[] }[] }>>>
  >;
};

const MISSING = { error: 'missing or invalid gateway key' };
const LACKING = { error: 'gateway key does not have required permission' };

describe('the permission matrix', () => {
  /** Every operation of the admin API, from its OpenAPI document: method, path with an id filled in, and required permission. */
  const operations = Object.entries(OPENAPI.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      path: path.replace('{id}', 'owner'),
      permission: security.flatMap(({ GatewayKey }) => GatewayKey).join(),
    })),
  );
  const guarded = operations.filter(({ permission }) => permission !== '');

  test('only these operations are public', async () => {
    const open = operations.filter(({ permission }) => permission === '').map(({ method, path }) => `${method} ${path}`);
    expect(open).toEqual(['GET /', 'GET /api/health', 'GET /api/openapi.json']);
    for (const path of ['/', '/api/health', '/api/openapi.json']) expect((await call(path)).status).toBe(200);
  });

  test.each(guarded)(
    '$method $path: 401 without a key, 403 with one that lacks $permission',
    async ({ method, path, permission }) => {
      const poor = permission === 'keys:manage' ? VIEWER : PROXY_ONLY;
      const rejected = [
        await call(path, undefined, { method }),
        await call(path, 'sgk_wrong', { method }),
        await call(path, poor, { method }),
      ];
      expect(rejected.map(({ status, body }) => [status, body])).toEqual([
        [401, MISSING],
        [401, MISSING],
        [403, LACKING],
      ]);
      for (const { headers } of rejected) expect(headers.get('x-svc-correlation-id')).toMatch(/./);
    },
  );

  test.each(guarded.filter(({ method }) => method === 'GET'))(
    'GET $path is open to a key with $permission',
    async ({ path, permission }) => {
      const good = permission === 'keys:manage' ? OWNER : VIEWER;
      expect([200, 404]).toContain((await call(path, good)).status);
    },
  );

  test.each([
    ['/openai/v1/models', PROXY_ONLY],
    ['/anthropic/v1/models', OWNER],
  ])('%s needs proxy:write', async (path, good) => {
    const responses = [await call(path), await call(path, 'sgk_wrong'), await call(path, VIEWER), await call(path, good)];
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 403, 200]);
    expect(responses.slice(0, 3).map(({ body }) => body)).toEqual([MISSING, MISSING, LACKING]);
  });

  test('no other header is read, and a key that is sent twice is rejected', async () => {
    const headers = { 'x-svc-gateway-key': OWNER, 'x-api-key': OWNER, authorization: `Bearer ${OWNER}` };
    expect((await call('/api/traces', undefined, { headers })).status).toBe(401);
    const twice = `GET /api/traces HTTP/1.1\r\nHost: a\r\nX-Team-Key: ${OWNER}\r\nX-Team-Key: ${OWNER}\r\n\r\n`;
    expect(await rawTalk(gateway.url, twice, (so) => so.includes('"}'))).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('without a key', () => {
  test('a preflight succeeds and allows the configured header', async () => {
    const { status, headers } = await call('/api/gateway-keys', undefined, { method: 'OPTIONS' });
    expect([status, headers.get('access-control-allow-headers')]).toEqual([
      204,
      'Content-Type, Authorization, X-API-Key, X-Svc-Gateway-Key, X-Team-Key',
    ]);
  });

  test.each([
    ['GET', '/api/none', 404],
    ['PUT', '/api/traces', 405],
    ['DELETE', '/api/gateway-keys', 405],
    ['GET', '/api/gateway-keys/owner/rotate', 405],
    ['OPTIONS', '/openai/v1/models', 401],
  ])('%s %s is %i', async (method, path, status) => {
    expect((await call(path, undefined, { method })).status).toBe(status);
  });

  const target = 'POST /openai/v1/chat/completions HTTP/1.1\r\nHost: a\r\n';
  const large = 'x'.repeat(5_000_000);
  test.each([
    ['short', `Content-Length: ${CHAT.length}\r\n\r\n${CHAT}`],
    ['long', `Content-Length: ${large.length}\r\n\r\n${large}`],
    ['chunked', `Transfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`],
  ])('the body of a rejected request that is %s is read to its end, and the connection is reused', async (_, rest) => {
    const twice = await rawTalk(gateway.url, target + rest + target + rest, (so) => so.split('"}').length > 2);
    expect(twice.match(/HTTP\/1\.1 401 /g)).toHaveLength(2);
  });
});

describe('a forwarded request', () => {
  test('carries no gateway key to the provider, and its trace hides it', async () => {
    expect((await chat(OWNER, { 'x-svc-gateway-key': 'canary-0123456789' })).status).toBe(200);
    const upstream = gateway.openai.received.at(-1);
    expect(JSON.stringify(upstream)).not.toMatch(/owner-token|canary|x-team-key/i);
    const newest = await waitUntil(
      async () => (await traces()).find(({ model, outcome }) => model === 'gpt-4o-mini' && outcome === 'completed'),
      { what: 'the trace' },
    );
    const { body } = await call(`/api/traces/${newest.id}`, OWNER);
    expect(body).toMatchObject({
      request_headers: { 'x-team-key': ['[REDACTED]'], 'x-svc-gateway-key': ['[REDACTED]'], authorization: ['[REDACTED]'] },
    });
    expect(JSON.stringify(body)).not.toMatch(/owner-token|canary/);
  });

  test('marks its key as used', async () => {
    const { body } = await call('/api/gateway-keys', OWNER);
    const { items } = body as { items: { id: string; last_used_at?: string }[] };
    expect(items.find(({ id }) => id === 'owner')?.last_used_at).toMatch(/Z$/);
  });
});

async function traces(): Promise<TracePage['items']> {
  return ((await call('/api/traces?limit=200', OWNER)).body as TracePage).items;
}

describe('a rejected request', () => {
  test('is audited in the log and in the store, with the correlation id and without secrets', async () => {
    const read = () => {
      using database = new DatabaseSync(join(gateway.folder, 'gateway-keys.db'), { readOnly: true });
      const ofTwo = "SELECT * FROM audit_events WHERE correlation_id IN ('audit-401', 'audit-403')";
      const rows = database.prepare(`${ofTwo} GROUP BY correlation_id ORDER BY correlation_id`).all();
      return rows.length === 2 && rows;
    };
    const rows = await waitUntil(
      async () => {
        // Earlier tests may have used up the events of this second.
        await chat('sgk_wrong-0123456789', { 'x-request-id': 'audit-401' });
        await call('/api/gateway-keys?token=abc', VIEWER, { headers: { 'x-request-id': 'audit-403' } });
        return read();
      },
      { what: 'two audit events' },
    );
    expect(rows).toMatchObject([
      { actor: '', action: 'request', target: 'POST /openai/v1/chat/completions', outcome: 'deny', reason: 'unauthorized' },
      { actor: 'viewer', target: 'GET /api/gateway-keys', reason: 'forbidden', org_id: 'acme', workspace_id: 'search' },
    ]);
    const line = gateway.log.find((text) => text.includes('audit-403'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ msg: 'denied', audit: { actor: 'viewer', reason: 'forbidden' } });
    expect(gateway.log.join('')).not.toMatch(/sgk_wrong|viewer-token|token=abc/);
  });

  test('of a known caller is audited whatever anonymous callers send meanwhile', async () => {
    const flood = () => Promise.all(Array.from({ length: 100 }, () => chat('sgk_wrong-0123456789')));
    // A key whose bound was not used up by earlier tests.
    const made = await call('/api/gateway-keys', OWNER, { method: 'POST', body: '{"id":"fresh","role":"viewer"}' });
    const { token: fresh } = made.body as { token: string };
    await flood();
    const headers = { 'x-request-id': 'audit-known' };
    const responses = await Promise.all([
      call('/api/gateway-keys', OWNER, { method: 'POST', headers, body: '{"id":"owner"}' }),
      call('/api/gateway-keys/unknown', OWNER, { method: 'DELETE', headers }),
      call('/api/gateway-keys/unknown/rotate', OWNER, { method: 'POST', headers }),
      call('/api/gateway-keys', fresh, { method: 'POST', headers, body: '{}' }),
      chat(fresh, headers),
      flood(),
    ]);
    expect(responses.slice(0, 5).map((response) => 'status' in response && response.status)).toEqual([409, 404, 404, 403, 403]);
    const read = () => {
      using database = new DatabaseSync(join(gateway.folder, 'gateway-keys.db'), { readOnly: true, timeout: 2_000 });
      const rows = database.prepare("SELECT actor, action, reason FROM audit_events WHERE correlation_id = 'audit-known'").all();
      return rows.length === 5 && rows;
    };
    const rows = await waitUntil(async () => read(), { what: 'five audit events' });
    expect(rows.map(({ actor, action, reason }) => `${String(actor)} ${String(action)} ${String(reason)}`).toSorted()).toEqual([
      'fresh request forbidden',
      'fresh request forbidden',
      'owner gateway_key.create gateway_key_exists',
      'owner gateway_key.revoke gateway_key_not_found',
      'owner gateway_key.rotate gateway_key_not_found',
    ]);
    const lines = gateway.log.filter((line) => line.includes('"denied"') && line.includes('audit-known'));
    expect(lines).toHaveLength(5);
  });

  test('leaves a trace of its tenant', async () => {
    expect((await chat(VIEWER)).status).toBe(403);
    const isIt = ({ outcome, response_status: status }: TracePage['items'][number]) => outcome === 'rejected' && status === 403;
    await waitUntil(async () => (await traces()).some(isIt), { what: 'a rejected trace' });
  });

  test('of an anonymous caller is traced at most ten times a second, and the others are counted', async () => {
    await Promise.all(Array.from({ length: 60 }, () => chat()));
    const { body } = await call('/api/diagnostics/trace-pipeline', OWNER);
    const { diagnostics } = body as {
      diagnostics: { rejections_unkept_total: number; audit_lost_total: number; audit_lost_by_cause: Record<string, number> };
    };
    // The sixty may fall into two seconds or three.
    expect(diagnostics.rejections_unkept_total).toBeGreaterThanOrEqual(30);
    expect(diagnostics.audit_lost_total).toBeGreaterThan(0);
    expect(diagnostics.audit_lost_by_cause['anonymous_rate']).toBeGreaterThan(0);
    const byCause = Object.values(diagnostics.audit_lost_by_cause);
    expect(byCause.reduce((sum, count) => sum + count, 0)).toBe(diagnostics.audit_lost_total);
  });
});

test('audit events are removed after 365 days, also with authentication off', async () => {
  await using folder = await temporaryFolder('audit');
  const path = join(folder.path, 'gateway-keys.db');
  const day = 86_400_000;
  const event = { actor: '', action: 'request', target: 't', outcome: 'deny', reason: 'r', correlation_id: 'c' } as const;
  const at = (days: number) => ({ ...event, at: Date.now() - days * day, org_id: '', workspace_id: '' });
  {
    using store = new SqliteKeyStore(path);
    store.appendAudit([at(366), at(364), at(0)]);
  }
  await using _gateway = await startTestGateway({ SVC_STORAGE_PATH: join(folder.path, 'traces.db') });
  const count = () => {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    return database.prepare('SELECT count(*) AS n FROM audit_events').get()?.['n'];
  };
  await waitUntil(async () => count() === 2, { what: 'the old event to be gone' });
});

test('a gateway whose clock is 40 days ahead removes two days of audit events at most', async () => {
  await using folder = await temporaryFolder('audit');
  const path = join(folder.path, 'gateway-keys.db');
  const day = 86_400_000;
  const event = { actor: '', action: 'request', target: 't', outcome: 'deny', reason: 'r', correlation_id: 'c' } as const;
  // An event that looks 40 days old to a clock 40 days ahead was just created.
  const at = (days: number) => ({ ...event, at: Date.now() - (40 + days) * day, org_id: '', workspace_id: '' });
  {
    using store = new SqliteKeyStore(path);
    store.appendAudit([at(364), at(360), at(340), at(0)]);
  }
  await using ahead = await startTestGateway({ SVC_STORAGE_PATH: join(folder.path, 'traces.db') });
  await waitUntil(() => ahead.log.some((line) => line.includes('old data removed')), { what: 'a pass' });
  using database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
  expect(database.prepare('SELECT count(*) AS n FROM audit_events').get()?.['n']).toBe(3);
  expect(ahead.log.some((line) => line.includes('retention held back'))).toBe(true);
});

test('the logged configuration contains no token', () => {
  expect(gateway.log.join('')).not.toContain('0123456789-0123456789');
});
