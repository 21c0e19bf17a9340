import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { KeyFixture } from '../testing/key-fixture.ts';
import { asOperator } from '../testing/start-test-operator.ts';
import { keyIdOf } from './read-spec.ts';
import { PAUSED, ROTATE, SKIP_REVOCATION } from './gateway-key-resource.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const OWN_TOKEN = 'a-token-of-a-person-of-30-chars';

let database: TestDatabase;
let pool: PostgresPool;
let world: KeyFixture;
beforeAll(async () => {
  database = await templateDatabase();
  pool = new PostgresPool({ dsn: asOperator(database.dsn), applicationName: 'test' });
});
beforeEach(async () => {
  world = await KeyFixture.open(pool);
});
afterEach(() => world[Symbol.asyncDispose]());
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** As a person in psql. */
async function sql(text: string): Promise<void> {
  await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'a person in psql' });
  await admin.execute(text, [world.object && keyIdOf(world.object)]);
}
const condition = (type: string) => world.condition(type);
const label = (labels: Record<string, string>, annotations = {}) =>
  world.fake.put('/api/v1/namespaces/team-a', { metadata: { labels, annotations } });

test('a key gets an id from its uid, a Secret that it owns, a row of its tenant, and a status without secrets', async () => {
  world.apply({ displayName: 'CI', permissions: ['proxy:write'], secretTemplate: { labels: { team: 'a' } } });
  await world.converge();
  const { object, secret, token = '' } = world;
  const keyId = object?.status?.keyId ?? '';
  expect(keyId).toMatch(/^gk_[0-9a-f]{16}$/);
  expect(token).toMatch(/^sgk_[A-Za-z0-9_-]{32}$/);
  expect(secret?.data?.['id']).toBe(base64(keyId));
  expect(secret?.metadata).toMatchObject({
    labels: { team: 'a', 'app.kubernetes.io/managed-by': 'vitrine-operator' },
    ownerReferences: [{ kind: 'GatewayKey', name: world.name, uid: object?.metadata.uid, controller: true }],
  });
  expect(await world.row).toMatchObject({
    org_id: 'acme',
    workspace_id: 'search',
    name: 'CI',
    role: 'developer',
    plan: undefined,
    managed_resource: `GatewayKey team-a/${world.name}`,
  });
  expect(object?.status).toMatchObject({
    observedGeneration: 1,
    secretName: `${world.name}-gateway-key`,
    orgId: 'acme',
    tokenPrefix: token.slice(0, 8),
  });
  expect(['Ready', 'SecretReady', 'Registered'].map((type) => condition(type)?.status)).toEqual(['True', 'True', 'True']);
  expect(condition('Stalled')).toBeUndefined();
  expect(JSON.stringify(object)).not.toContain(token.slice(9));
  await waitUntil(() => world.events.length === 1, { what: 'the event' });
});

describe('an invalid spec or namespace', () => {
  test.each([
    [
      'an unknown permission',
      { permissions: ['proxy:write', 'stores:read'] },
      'InvalidPermission',
      /stores:read; known permissions: proxy:write/,
    ],
    ['keys:manage without a ceiling', { permissions: ['keys:manage'] }, 'PermissionDenied', /keys:manage .*permission-ceiling/],
    ['a role that implies it', { role: 'admin' }, 'PermissionDenied', /keys:manage/],
    ['a name that cannot be stored', { displayName: 'a\0b' }, 'InvalidSpec', /displayName/],
    ['a token as its name', { displayName: 'sgk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }, 'InvalidSpec', /displayName/],
  ])('%s: reports it, writes nothing, and is not retried early', async (_, spec, reason, message) => {
    world.apply(spec);
    expect(await world.pass()).toBe(60_000);
    expect([world.ready, world.secret, await world.row]).toEqual([`False ${reason}`, undefined, undefined]);
    expect(condition('Stalled')).toMatchObject({ status: 'True', reason, observedGeneration: 1 });
    expect(condition('Ready')?.message).toMatch(message);
    expect(world.object?.metadata.finalizers).toBeUndefined();
    world.apply({});
    await world.converge();
    expect([world.ready, condition('Stalled')]).toEqual(['True Registered', undefined]);
  });

  test('a plan that does not exist: the key is registered, so that the gateway can name the plan, and is not ready', async () => {
    world.apply({ plan: 'gone' });
    await world.converge();
    expect([world.ready, await world.isAccepted(), condition('Registered')?.status]).toEqual([
      'False PlanNotFound',
      true,
      'True',
    ]);
    expect(condition('Stalled')).toMatchObject({ status: 'True', message: expect.stringContaining('there is no plan "gone"') });
    await waitUntil(() => world.events.includes('PlanNotFound'), { what: 'the event' });
    await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'a person in psql' });
    await admin.execute("INSERT INTO plans (name, limits) VALUES ('gone', '{}')", []);
    await world.converge();
    expect([world.ready, condition('Stalled')]).toEqual(['True Registered', undefined]);
  });

  test.each([[{}], [{ 'vitrine.dev/org': 'acme' }]])('labels %j map to no tenant', async (labels) => {
    label(labels);
    world.apply();
    await world.pass();
    expect([world.ready, world.secret, await world.row]).toEqual(['False TenantNotMapped', undefined, undefined]);
  });

  test('the ceiling of the namespace permits what it names', async () => {
    label(
      { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'w' },
      { 'vitrine.dev/permission-ceiling': 'keys:manage, analytics:read' },
    );
    world.apply({ role: 'none', permissions: ['keys:manage'] });
    await world.converge();
    expect(world.ready).toBe('True Registered');
  });

  test('a terminating namespace is left alone', async () => {
    world.fake.put('/api/v1/namespaces/team-a', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    world.apply();
    expect([await world.pass(), world.object?.status, world.secret]).toEqual([undefined, undefined, undefined]);
  });
});

describe('objects of other owners', () => {
  test('a Secret of another owner is not changed', async () => {
    const foreign = world.fake.put(world.secretPath, { data: { password: base64('theirs') } } as object);
    world.apply();
    await world.converge();
    expect([world.ready, await world.row]).toEqual(['False SecretConflict', undefined]);
    expect(world.fake.read(world.secretPath)).toEqual(foreign);
    world.fake.remove(world.secretPath);
    await world.converge();
    expect(world.ready).toBe('True Registered');
  });

  test('of two GatewayKeys with one id the first owns it; the other cannot change or revoke it', async () => {
    const keyId = `shared-${world.name}`;
    world.apply({ keyId });
    await world.converge();
    await using other = await KeyFixture.open(pool);
    other.apply({ keyId });
    await other.converge();
    expect([other.ready, other.secret]).toEqual(['False IdConflict', undefined]);
    expect(other.object?.status?.conditions?.[0]?.message).toContain(`GatewayKey team-a/${world.name}`);
    other.fake.delete(other.path);
    await other.converge();
    expect(other.object).toBeUndefined();
    expect(await world.isAccepted()).toBe(true);
  });

  test('a key created over REST is adopted only if allowed, with a new token', async () => {
    const keyId = `rest-${world.name}`;
    await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'REST' });
    await admin.execute(
      `INSERT INTO gateway_keys (id, org_id, workspace_id, role, permissions, created_at, pepper_version, token_mac, revision, changed_by)
       VALUES ($1, 'acme', 'search', 'developer', '{}', now(), 1, sha256($2::bytea), (SELECT coalesce(max(revision), 0) + 1 FROM gateway_keys), 'x')`,
      [keyId, Buffer.from(keyId)],
    );
    world.apply({ keyId });
    await world.converge();
    expect([world.ready, world.secret]).toEqual(['False IdConflict', undefined]);
    world.apply({ keyId, adoptionPolicy: 'IfSameTenant' });
    await world.converge();
    expect([world.ready, await world.isAccepted()]).toEqual(['True Registered', true]);
    await waitUntil(() => world.events.includes('Adopted'), { what: 'the event' });
  });

  test('an id whose key was revoked can never be used again', async () => {
    const keyId = `once-${world.name}`;
    world.apply({ keyId });
    await world.converge();
    world.fake.delete(world.path);
    await world.converge();
    world.restart();
    world.apply({ keyId });
    await world.converge();
    expect(world.ready).toBe('False IdConflict');
  });
});

describe('drift', () => {
  beforeEach(async () => {
    world.apply();
    await world.converge();
  });

  test.each([
    ['deleted', () => world.fake.remove(world.secretPath)],
    [
      'given a user-provided token',
      () => world.fake.put(world.secretPath, { ...world.secret, data: { token: base64(OWN_TOKEN) } } as object),
    ],
    ['emptied', () => world.fake.put(world.secretPath, { ...world.secret, data: {} } as object)],
  ])('a Secret that is %s gets a new token, and a token written by a person is never accepted', async (_, change) => {
    const old = world.token;
    change();
    await world.converge();
    expect([world.ready, await world.isAccepted(), world.token === old]).toEqual(['True Registered', true, false]);
    expect(await world.isAccepted(OWN_TOKEN)).toBe(false);
    await waitUntil(() => world.events.includes('SecretReissued'), { what: 'the event' });
  });

  test('a row that was deleted is registered again with the same token', async () => {
    const old = world.token;
    await sql('DELETE FROM gateway_keys WHERE id = $1');
    await world.pass();
    expect([world.ready, world.reconciling, world.condition('Registered')?.status]).toEqual([
      'False RowMissing',
      'RowMissing',
      'False',
    ]);
    await waitUntil(() => world.events.includes('RowMissing'), { what: 'the event of the missing row' });
    await world.converge();
    expect([world.ready, world.token, await world.isAccepted()]).toEqual(['True Registered', old, true]);
    await waitUntil(() => world.events.includes('RowRestored'), { what: 'the event' });
  });

  test('a row that was revoked by hand comes back with another token: the revoked one stays rejected', async () => {
    const old = world.token;
    await sql('UPDATE gateway_keys SET revoked_at = now() WHERE id = $1');
    await world.converge();
    expect([await world.isAccepted(), await world.isAccepted(old)]).toEqual([true, false]);
  });

  test('fields of the row and labels of the namespace are followed', async () => {
    await sql("UPDATE gateway_keys SET role = 'viewer' WHERE id = $1");
    label({ 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'moved' });
    await world.converge();
    expect(await world.row).toMatchObject({ role: 'developer', workspace_id: 'moved' });
    expect(world.object?.status?.workspaceId).toBe('moved');
  });

  test('correct objects are not written again', async () => {
    await waitUntil(() => world.events.length === 1, { what: 'the event' });
    const requests = world.fake.requests.length;
    await world.converge();
    expect(world.fake.requests.slice(requests).map((request) => request.split(' ')[0])).toEqual(['GET', 'GET']);
  });
});

describe('rotation', () => {
  const tokens = async (spec: object, metadata = {}) => {
    const before = world.token;
    world.apply(spec, metadata);
    await world.converge();
    expect(await world.isAccepted()).toBe(true);
    return world.token !== before;
  };

  test('a changed trigger or annotation rotates once, a removed one does not', async () => {
    world.apply();
    await world.converge();
    expect(await tokens({ rotation: { trigger: 'one' } })).toBe(true);
    expect(await tokens({ rotation: { trigger: 'one' } })).toBe(false);
    expect(await tokens({ rotation: { trigger: 'two' } }, { annotations: { [ROTATE]: '1' } })).toBe(true);
    expect(await tokens({ rotation: { trigger: 'two' } })).toBe(false);
    expect(await tokens({})).toBe(false);
    expect(world.object?.status).toMatchObject({ lastHandledRotation: '1', lastHandledTrigger: 'two' });
  });

  test('an interval rotates when it is over', async () => {
    world.apply({ rotation: { interval: '2h' } });
    const wait = await world.pass();
    expect(wait).toBeGreaterThan(7_190_000);
    expect(wait).toBeLessThanOrEqual(7_200_000);
    const before = world.token;
    world.now += 7_200_000;
    await world.converge();
    expect([world.token === before, await world.isAccepted()]).toEqual([false, true]);
  });
});

describe('a token of a person', () => {
  const put = (token: string) =>
    world.fake.put('/api/v1/namespaces/team-a/secrets/mine', { data: { token: base64(token) } } as object);
  const spec = { tokenSecretRef: { name: 'mine' } };

  test('is registered, followed when it changes, and checked every minute', async () => {
    world.apply(spec);
    expect([await world.pass(), world.ready]).toEqual([60_000, 'False SecretMissing']);
    put('too short');
    await world.pass();
    expect(world.ready).toBe('False InvalidToken');
    put(`${OWN_TOKEN}-${world.name}\n`);
    expect([await world.pass(), world.ready]).toEqual([60_000, 'True Registered']);
    expect(await world.isAccepted(`${OWN_TOKEN}-${world.name}`)).toBe(true);
    put(`another-${OWN_TOKEN}-${world.name}`);
    await world.pass();
    expect([world.ready, await world.isAccepted(`another-${OWN_TOKEN}-${world.name}`)]).toEqual(['True Registered', true]);
    expect(world.fake.requests.filter((request) => /^(?:POST|PATCH|PUT) .*secrets/.test(request))).toEqual([]);
  });

  test('that another key has or had, or that was replaced, is refused', async () => {
    put(`first-${OWN_TOKEN}-${world.name}`);
    world.apply(spec);
    await world.pass();
    put(`second-${OWN_TOKEN}-${world.name}`);
    await world.pass();
    put(`first-${OWN_TOKEN}-${world.name}`);
    await world.pass();
    expect([world.ready, await world.isAccepted(`second-${OWN_TOKEN}-${world.name}`)]).toEqual(['False TokenConflict', true]);
  });
});

describe('deletion', () => {
  beforeEach(async () => {
    world.apply({ adoptionPolicy: 'IfSameTenant' });
    await world.converge();
  });

  test('revokes the key and deletes its Secret', async () => {
    const id = world.object?.status?.keyId ?? '';
    world.fake.delete(world.path);
    await world.converge();
    expect([world.object, world.secret, (await world.rows.read(id))?.isRevoked]).toEqual([undefined, undefined, true]);
  });

  test('with deletionPolicy Orphan keeps key and Secret, which the next GatewayKey of this id adopts unchanged', async () => {
    const keyId = world.object?.status?.keyId ?? '';
    const token = world.token;
    world.apply({ deletionPolicy: 'Orphan' });
    world.fake.delete(world.path);
    await world.converge();
    expect([world.object, world.token]).toEqual([undefined, token]);
    expect(await world.rows.read(keyId)).toMatchObject({ isRevoked: false, owner_uid: undefined });
    world.apply({ keyId, adoptionPolicy: 'IfSameTenant' });
    await world.converge();
    expect([world.ready, world.token, await world.isAccepted()]).toEqual(['True Registered', token, true]);
    expect(world.secret?.metadata.ownerReferences?.[0]?.uid).toBe(world.object?.metadata.uid);
  });

  test.each<[string, object | string, boolean]>([
    ['Orphan beside a permission that is unknown', { deletionPolicy: 'Orphan', permissions: ['stores:read'] }, false],
    ['Orphan beside a field of another type', { deletionPolicy: 'Orphan', role: 7, secretName: undefined }, false],
    ['Orphan beside a duration of a stricter schema', { deletionPolicy: 'Orphan', rotation: { interval: '1d' } }, false],
    ['a policy of another release', { deletionPolicy: 'Retain' }, true],
    ['a policy of another type', { deletionPolicy: ['Orphan'] }, true],
    ['null as its policy', { deletionPolicy: null }, true],
    ['text as its spec', 'Orphan', true],
  ])('with %s keeps key and Secret, and reports an unreadable policy', async (_, spec, isReported) => {
    const keyId = world.object?.status?.keyId ?? '';
    const { token } = world;
    world.apply(spec as object);
    world.fake.delete(world.path);
    await world.converge();
    expect([world.object, world.token, world.secret?.metadata.ownerReferences ?? []]).toEqual([undefined, token, []]);
    expect(await world.rows.read(keyId)).toMatchObject({ isRevoked: false, owner_uid: undefined });
    if (isReported) await waitUntil(() => world.events.includes('KeyKept'), { what: 'the event' });
    expect(world.log.some((line) => line.includes('key kept: unreadable deletionPolicy'))).toBe(isReported);
  });

  test.each(['Revoke', undefined])(
    'with deletionPolicy %s revokes the key, also when the rest does not parse',
    async (deletionPolicy) => {
      const keyId = world.object?.status?.keyId ?? '';
      world.apply({ deletionPolicy, permissions: ['stores:read'] });
      world.fake.delete(world.path);
      await world.converge();
      expect([world.object, (await world.rows.read(keyId))?.isRevoked]).toEqual([undefined, true]);
    },
  );

  test('with Orphan keeps the Secret for its other owners', async () => {
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', name: 'app', uid: 'theirs' };
    const { secret } = world;
    const ownerReferences = [theirs, ...(secret?.metadata.ownerReferences ?? [])];
    world.fake.put(world.secretPath, { ...secret, metadata: { ...secret?.metadata, ownerReferences } });
    world.apply({ deletionPolicy: 'Orphan' });
    world.fake.delete(world.path);
    await world.converge();
    expect([world.object, world.secret?.metadata.ownerReferences]).toEqual([undefined, [theirs]]);
  });

  test('continues when conditions of the status cannot be read', async () => {
    const keyId = world.object?.status?.keyId ?? '';
    for (const conditions of ['none', [null, 7, { type: 'Ready' }]]) {
      world.fake.put(world.path, { ...world.fake.read(world.path), status: { keyId, conditions } });
      await world.converge();
      expect(world.ready).toBe('True Registered');
    }
    world.fake.put(world.path, { ...world.fake.read(world.path), status: { conditions: {} } });
    world.fake.delete(world.path);
    await world.converge();
    expect([world.object, (await world.rows.read(keyId))?.isRevoked]).toEqual([undefined, true]);
  });

  test('with the annotation skip-revocation needs no database', async () => {
    const id = world.object?.status?.keyId ?? '';
    world.apply({}, { annotations: { [SKIP_REVOCATION]: 'true' } });
    world.fake.delete(world.path);
    await world.converge();
    expect([world.object, (await world.rows.read(id))?.isRevoked]).toEqual([undefined, false]);
  });

  test('also happens while the key is paused', async () => {
    world.apply({}, { annotations: { [PAUSED]: 'true' } });
    world.fake.remove(world.secretPath);
    await world.converge();
    expect([world.ready, world.secret]).toEqual(['True Paused', undefined]);
    world.fake.delete(world.path);
    await world.converge();
    expect(world.object).toBeUndefined();
  });
});
