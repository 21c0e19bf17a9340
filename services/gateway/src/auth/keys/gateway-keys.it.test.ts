import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { gatewayKeyPage, gatewayKeyWithToken, type GatewayKeyWithToken } from '@vitrine/gateway-keys/gateway-key';
import { SqliteKeyStore } from '@vitrine/gateway-keys/sqlite/sqlite-key-store';
import { waitUntil } from '@vitrine/testkit/wait-until';
import fc from 'fast-check';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { rawExchange } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const OWNER = 'owner-token-0123456789-0123456789';
const YAML = `auth: {keys: [{id: owner, token: ${OWNER}, org_id: acme, workspace_id: search, role: owner}]}`;

let gateway: TestGateway;
let other: GatewayKeyWithToken;
beforeAll(async () => {
  gateway = await startTestGateway({ SVC_AUTH_ENABLED: 'true' }, YAML);
  // The first key of another tenant can only be created on the command line.
  using store = new SqliteKeyStore(path());
  const source = await make({ role: 'owner', name: 'second owner' });
  const row = store.find(source.id, undefined);
  if (row === undefined) throw new Error('it is there');
  using database = new DatabaseSync(path());
  database.exec(`UPDATE gateway_keys SET org_id = 'other', revision = 1000 WHERE id = '${source.id}'`);
  other = source;
  await waitUntil(async () => (await list(other.token)).every((key) => key.org_id === 'other'), { what: 'the other tenant' });
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const path = () => join(gateway.folder, 'gateway-keys.db');
async function call(method: string, of: string, token: string | undefined, body?: unknown) {
  const response = await fetch(`${gateway.url}/api/gateway-keys${of}`, {
    method,
    headers: { ...(token === undefined ? {} : { 'x-svc-gateway-key': token }), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as { error?: string }) };
}
const make = async (fields: object, token = OWNER) => gatewayKeyWithToken.parse((await call('POST', '', token, fields)).body);
const list = async (token = OWNER) => gatewayKeyPage.parse((await call('GET', '', token)).body).items;
/** The status of a request to a provider. */
const works = async (token: string) => {
  const headers = { 'x-svc-gateway-key': token, authorization: 'Bearer sk-test-0123456789' };
  return (await fetch(`${gateway.url}/openai/v1/models`, { headers })).status;
};
/** Every row of both tables, to see that nothing was written. */
const rows = () => {
  using database = new DatabaseSync(path(), { readOnly: true });
  return [
    database
      .prepare('SELECT * FROM gateway_keys ORDER BY id')
      .all()
      .map((row) => ({ ...row, last_used_at: undefined })),
    database.prepare("SELECT count(*) AS n FROM audit_events WHERE outcome = 'allow'").get(),
  ];
};

describe('create', () => {
  test('is 201 with the token, which works at once; empty texts count as absent', async () => {
    const { status, body } = await call('POST', '', OWNER, { id: '', token: '', name: 'n', description: '', role: '' });
    const key = gatewayKeyWithToken.parse(body);
    expect(status).toBe(201);
    expect(key).toEqual({
      id: expect.stringMatching(/^gk_[0-9a-f]{16}$/),
      token: expect.stringMatching(/^sgk_[A-Za-z0-9_-]{32}$/),
      org_id: 'acme',
      workspace_id: 'search',
      name: 'n',
      created_by: 'owner',
      role: 'developer',
      permissions: [],
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await works(key.token)).toBe(200);
  });

  test('accepts an id, a token and permissions, but no tenant', async () => {
    const token = `${'chosen-token'.repeat(3)}~`;
    const key = await make({
      id: 'mine.1',
      token,
      org_id: 'other',
      workspace_id: 'x',
      role: 'VIEWER',
      permissions: ['Proxy:Write', 'proxy:write'],
    });
    expect(key).toMatchObject({
      id: 'mine.1',
      token,
      org_id: 'acme',
      workspace_id: 'search',
      role: 'viewer',
      permissions: ['proxy:write'],
    });
    expect(await works(token)).toBe(200);
  });

  test('without a body creates a key with defaults', async () => {
    expect((await call('POST', '', OWNER)).status).toBe(201);
  });

  test('neither the file nor the log contains the token', async () => {
    const { token } = await make({});
    using database = new DatabaseSync(path(), { readOnly: true });
    expect(JSON.stringify(database.prepare('SELECT * FROM gateway_keys').all())).not.toContain(token);
    expect(gateway.log.join('')).not.toContain(token);
  });
});

describe('a rejected request changes nothing', () => {
  test.each([
    ['no JSON', '{', 400, /^invalid json body$/],
    ['a list', '[]', 400, /^invalid json body$/],
    ['more behind it', '{} {}', 400, /^invalid json body$/],
    ['an unknown field', { colour: 'red' }, 400, /^invalid json body$/],
    ['a plan', { plan: 'gold' }, 400, /^plan: /],
    ['a number as a name', { name: 5 }, 400, /^name: /],
    ['an unknown permission', { permissions: ['all'] }, 400, /^permissions\.0: unknown permission/],
    ['a short token', { token: 'x'.repeat(23) }, 400, /^token: must be 24 to 256/],
    ['a token with a space', { token: `${'x'.repeat(30)} y` }, 400, /^token: /],
    ['an id of 129 characters', { id: 'x'.repeat(129) }, 400, /^id: must be at most 128/],
    ['an id with a line feed', { id: 'a\nb' }, 400, /^id: /],
    ['an id that no path can name', { id: '..' }, 400, /^id: must not be \. or \.\.$/],
    ['an organisation of 129 characters', { org_id: 'x'.repeat(129) }, 400, /^org_id: /],
    ['a name that Postgres cannot hold', { name: 'a\0b' }, 400, /^name: must be well-formed Unicode without U\+0000$/],
    ['half of a character', { description: 'a\ud800' }, 400, /^description: must be well-formed/],
    ['a token as a name', { name: 'sgk_0123456789' }, 400, /^name: must not contain a credential$/],
    ['64 KiB and more', { description: 'x'.repeat(65_536) }, 413, /^request body too large$/],
    ['the id of a key of the file', { id: 'owner' }, 409, /^gateway key already exists$/],
    ['the token of a key of the file', { token: OWNER }, 409, /^gateway key token already exists$/],
  ])('create with %s', async (_, fields, status, error) => {
    const before = rows();
    const response = await call('POST', '', OWNER, fields);
    expect([response.status, response.body]).toEqual([status, { error: expect.stringMatching(error) }]);
    expect(rows()).toEqual(before);
  });

  test('the connection is closed when a body is not read to its end, or the next request would wait forever', async () => {
    const headers = { 'x-svc-gateway-key': OWNER };
    const { status, rawHeaders } = await rawExchange(`${gateway.url}/api/gateway-keys`, { headers, body: Buffer.alloc(400_000) });
    expect([status, rawHeaders]).toEqual([413, expect.arrayContaining(['Connection', 'close'])]);
  });

  test('1,000 at once with the same id: one is created, all others are 409', async () => {
    const responses = await Promise.all(Array.from({ length: 1_000 }, () => call('POST', '', OWNER, { id: 'wanted-by-all' })));
    const counts = Object.groupBy(responses, ({ status }) => status);
    expect([counts[201]?.length, counts[409]?.length]).toEqual([1, 999]);
  });

  test('an id or a token that was ever used, also by a revoked key or another tenant', async () => {
    const key = await make({});
    const conflict = async (fields: object) => (await call('POST', '', OWNER, fields)).body;
    expect(await conflict({ id: key.id })).toEqual({ error: 'gateway key already exists' });
    expect(await conflict({ id: other.id })).toEqual({ error: 'gateway key already exists' });
    expect(await conflict({ token: key.token })).toEqual({ error: 'gateway key token already exists' });
    expect((await call('DELETE', `/${key.id}`, OWNER)).status).toBe(204);
    expect(await conflict({ id: key.id })).toEqual({ error: 'gateway key already exists' });
    expect(await conflict({ token: key.token })).toEqual({ error: 'gateway key token already exists' });
  });

  test('permissions that the caller lacks, in a new key or in the token of another', async () => {
    const { token: manager } = await make({ role: 'viewer', permissions: ['keys:manage'] });
    const strong = await make({ role: 'owner' });
    const before = rows();
    for (const [of, fields] of [
      ['', {}],
      ['', { role: 'admin' }],
      ['', { role: 'viewer', permissions: ['proxy:write'] }],
      [`/${strong.id}/rotate`, {}],
    ] as const) {
      const response = await call('POST', of, manager, fields);
      expect([response.status, response.body?.error]).toEqual([
        403,
        expect.stringContaining('cannot grant permissions that it does not have'),
      ]);
    }
    expect(rows()).toEqual(before);
    expect(await works(strong.token)).toBe(200);
    expect((await call('POST', '', manager, { role: 'viewer' })).status).toBe(201);
  });

  test.each([
    ['DELETE', '/gk_0000000000000000', 404, 'gateway key not found'],
    ['POST', '/gk_0000000000000000/rotate', 404, 'gateway key not found'],
    ['DELETE', `/${'x'.repeat(2_000)}`, 404, 'gateway key not found'],
    ['DELETE', '/owner', 501, 'gateway key mutations are not supported by this config store'],
    ['POST', '/owner/rotate', 501, 'gateway key mutations are not supported by this config store'],
  ])('%s %s', async (method, of, status, error) => {
    const before = rows();
    expect(await call(method, of, OWNER)).toEqual({ status, body: { error } });
    expect(rows()).toEqual(before);
  });

  test('a key that a Kubernetes resource owns', async () => {
    const { id } = await make({ role: 'viewer' });
    using database = new DatabaseSync(path());
    database.exec(
      `UPDATE gateway_keys SET managed_by = 'operator', managed_resource = 'GatewayKey team-a/ci' WHERE id = '${id}'`,
    );
    for (const [method, of] of [
      ['DELETE', `/${id}`],
      ['POST', `/${id}/rotate`],
    ] as const) {
      const { status, body } = await call(method, of, OWNER);
      expect([status, body?.error]).toEqual([409, expect.stringContaining('GatewayKey team-a/ci')]);
    }
    expect((await list()).find((key) => key.id === id)?.managed_by).toBe('operator');
  });
});

describe('rotate and revoke', () => {
  test('rotate ends the old token at once, keeps everything else, and takes a token', async () => {
    const key = await make({ name: 'n' });
    const { status, body } = await call('POST', `/${key.id}/rotate`, OWNER);
    const rotated = gatewayKeyWithToken.parse(body);
    expect([status, { ...rotated, token: '' }]).toEqual([200, { ...key, token: '' }]);
    expect([await works(key.token), await works(rotated.token)]).toEqual([401, 200]);
    const chosen = `sgk_${'c'.repeat(32)}`;
    await call('POST', `/${key.id}/rotate`, OWNER, { token: chosen });
    expect([await works(rotated.token), await works(chosen)]).toEqual([401, 200]);
    expect(await call('POST', `/${key.id}/rotate`, OWNER, { token: chosen })).toMatchObject({ status: 409 });
    expect(await call('POST', `/${key.id}/rotate`, OWNER, { colour: 'red' })).toMatchObject({ status: 400 });
    expect(await works(chosen)).toBe(200);
  });

  test('revoke is 204 without a body, applies at once, and succeeds once', async () => {
    const key = await make({});
    expect(await call('DELETE', `/${key.id}`, OWNER)).toEqual({ status: 204, body: undefined });
    expect(await works(key.token)).toBe(401);
    expect(await call('DELETE', `/${key.id}`, OWNER)).toMatchObject({ status: 404 });
    expect((await list()).some(({ id }) => id === key.id)).toBe(false);
  });

  test('a key revoked by another process is rejected soon', async () => {
    const key = await make({});
    using store = new SqliteKeyStore(path());
    const event = { at: 1, actor: 'system', action: 'gateway_key.revoke', target: key.id, outcome: 'allow' } as const;
    store.update(
      key.id,
      undefined,
      { revoked_at: 1 },
      { ...event, reason: '', correlation_id: '', org_id: '', workspace_id: '' },
    );
    await waitUntil(async () => (await works(key.token)) === 401, { what: 'the key to be rejected' });
  });
});

describe('the list', () => {
  test('is ordered by created_at, then id, and includes the keys of the file but no tokens', async () => {
    const items = await list();
    const order = items.map(({ created_at, id }) => `${created_at} ${id}`);
    expect(order).toEqual(order.toSorted());
    expect(items).toContainEqual(expect.objectContaining({ id: 'owner', created_by: 'system', role: 'owner' }));
    expect(JSON.stringify(items)).not.toMatch(/token|mac|pepper/);
  });

  test('contains the last use of a key', async () => {
    const key = await make({});
    expect((await list()).find(({ id }) => id === key.id)).not.toHaveProperty('last_used_at');
    await works(key.token);
    expect((await list()).find(({ id }) => id === key.id)?.last_used_at).toMatch(/Z$/);
  });
});

test('no tenant sees or changes the keys of another, whatever it sends', async () => {
  const sides = [
    { token: OWNER, org: 'acme' },
    { token: other.token, org: 'other' },
  ] as const;
  const step = fc.record({
    side: fc.constantFrom(...sides),
    kind: fc.constantFrom('create', 'revoke', 'rotate'),
    id: fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5', 'p6'),
    org_id: fc.constantFrom('acme', 'other', ''),
  });
  const owners = new Map<string, string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      for (const { side, kind, id, org_id } of steps) {
        const owner = owners.get(id);
        const strange = owner !== undefined && owner !== side.org;
        if (kind === 'create') {
          const { status } = await call('POST', '', side.token, { id, org_id });
          expect(status).toBe(owner === undefined ? 201 : 409);
          if (status === 201) owners.set(id, side.org);
        } else {
          const { status } = await call(
            kind === 'revoke' ? 'DELETE' : 'POST',
            `/${id}${kind === 'revoke' ? '' : '/rotate'}`,
            side.token,
          );
          if (strange || owner === undefined) expect(status).toBe(404);
          else expect([200, 204, 404]).toContain(status);
        }
        for (const { token, org } of sides) {
          const seen = await list(token);
          expect(seen.filter((key) => key.org_id !== org)).toEqual([]);
          expect(seen.filter((key) => owners.has(key.id) && owners.get(key.id) !== org)).toEqual([]);
        }
      }
    }),
    { numRuns: 25 },
  );
});

describe('elsewhere', () => {
  test('with auth.store: file every mutation is 501, and the keys of the file are listed', async () => {
    await using files = await startTestGateway({ SVC_AUTH_ENABLED: 'true', SVC_AUTH_STORE: 'file' }, YAML);
    const send = async (method: string, of = '') => {
      const response = await fetch(`${files.url}/api/gateway-keys${of}`, { method, headers: { 'x-svc-gateway-key': OWNER } });
      return [response.status, await response.json()];
    };
    const unsupported = [501, { error: 'gateway key mutations are not supported by this config store' }];
    expect([await send('POST'), await send('DELETE', '/owner'), await send('POST', '/x/rotate')]).toEqual([
      unsupported,
      unsupported,
      unsupported,
    ]);
    expect(await send('GET')).toEqual([200, { items: [expect.objectContaining({ id: 'owner' })] }]);
  });

  test('with authentication off keys can be created for any tenant, for later use', async () => {
    await using open = await startTestGateway({});
    const response = await fetch(`${open.url}/api/gateway-keys`, {
      method: 'POST',
      body: JSON.stringify({ role: 'owner', org_id: 'o1' }),
    });
    expect([response.status, await response.json()]).toEqual([
      201,
      expect.objectContaining({ org_id: 'o1', workspace_id: 'default', created_by: 'system' }),
    ]);
  });
});
