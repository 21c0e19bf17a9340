import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import type { ManagedKeyRows } from '@vitrine/gateway-keys/managed-key';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { failing } from '../testing/fake-api-server.ts';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { KeyFixture } from '../testing/key-fixture.ts';
import { asOperator } from '../testing/start-test-operator.ts';
import { ROTATE } from './gateway-key-resource.ts';

let database: TestDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await templateDatabase();
  pool = new PostgresPool({ dsn: asOperator(database.dsn), applicationName: 'test' });
});
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** A user action, and the total number of published tokens after it. */
interface Scenario {
  readonly act: (world: KeyFixture) => void;
  readonly tokens: number;
}

const CREATE: Scenario = { act: () => {}, tokens: 1 };
const ROTATED: Scenario = { act: (world) => world.apply({}, { annotations: { [ROTATE]: 'now' } }), tokens: 2 };
const REISSUED: Scenario = { act: (world) => world.fake.remove(world.secretPath), tokens: 2 };
const CHANGED: Scenario = {
  act: (world) => world.apply({ role: 'viewer', secretTemplate: { labels: { team: 'a' } } }),
  tokens: 1,
};
const SCENARIOS: readonly (readonly [string, Scenario])[] = [
  ['a new key', CREATE],
  ['a rotation', ROTATED],
  ['a Secret that was deleted', REISSUED],
  ['a changed spec', CHANGED],
];

type Faults = (world: KeyFixture, n: number) => { readonly rows: ManagedKeyRows; readonly count: () => number };

/** The n-th request to the API server fails, with or without an effect. */
const requestFails =
  (hasEffect: boolean): Faults =>
  (world, n) => {
    let count = 0;
    world.fake.fault = (request, response) => {
      if (request.url?.includes('/events') === true) return false;
      count += 1;
      if (count !== n) return false;
      if (hasEffect) {
        // The server executes it, but the process gets no response.
        response.end = () => response.destroy();
        return false;
      }
      return failing(503, 'ServiceUnavailable', 1, () => true)(request, response, new URL('http://x'));
    };
    return { rows: world.rows, count: () => count };
  };

/** The n-th call of the rows fails, with or without an effect. */
const databaseFails =
  (hasEffect: boolean): Faults =>
  (world, n) => {
    let count = 0;
    const away = () => new Fault('key_store_unavailable', { say: 'away' });
    const call =
      (method: (...args: unknown[]) => Promise<unknown>) =>
      async (...args: unknown[]) => {
        count += 1;
        const isFault = count === n;
        if (isFault && !hasEffect) throw away();
        const result = await method.apply(world.rows, args);
        if (isFault) throw away();
        return result;
      };
    const rows = new Proxy(world.rows, {
      get: (target, name) => call(Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>),
    });
    return { rows, count: () => count };
  };

const FAULTS: readonly (readonly [string, Faults])[] = [
  ['request fails', requestFails(false)],
  ['response is lost', requestFails(true)],
  ['call of the database fails', databaseFails(false)],
  ['result of the database is lost', databaseFails(true)],
];

test.each(SCENARIOS.flatMap(([what, scenario]) => FAULTS.map(([how, faults]) => [what, how, scenario, faults] as const)))(
  '%s: whichever %s, the process that follows ends with a published token that is accepted, and changes none twice',
  async (_, __, { act, tokens }, faults) => {
    for (let n = 1; ; n += 1) {
      await using world = await KeyFixture.open(pool);
      world.apply();
      if (act !== CREATE.act) await world.converge();
      const seen = new Set([world.token].filter((token) => token !== undefined));
      act(world);
      world.restart();
      const { rows, count } = faults(world, n);
      const errors = await world.converge(rows).catch((error: unknown) => {
        throw new Error(`n = ${n}: ${String(error)}`, { cause: error });
      });
      world.fake.fault = undefined;
      if (world.token !== undefined) seen.add(world.token);
      expect([n, world.ready, await world.isAccepted(), seen.size]).toEqual([n, 'True Registered', true, tokens]);
      // Nothing is left to do for another process.
      const token = world.token;
      const requests = world.fake.requests.length;
      world.restart();
      await world.converge();
      expect([
        world.token,
        world.fake.requests.slice(requests).filter((request) => !request.startsWith('GET') && !request.endsWith('/events')),
      ]).toEqual([token, []]);
      if (count() < n) {
        expect([errors, n > 2]).toEqual([[], true]);
        return;
      }
    }
  },
);

test.each(FAULTS)('a deletion: whichever %s, the key is revoked before the object is gone', async (_, faults) => {
  for (let n = 1; ; n += 1) {
    await using world = await KeyFixture.open(pool);
    world.apply();
    await world.converge();
    const id = world.object?.status?.keyId ?? '';
    world.fake.delete(world.path);
    world.restart();
    const { rows, count } = faults(world, n);
    for (let passes = 0; passes < 10 && world.object !== undefined; passes += 1) {
      const isRevoked = (await world.rows.read(id))?.isRevoked;
      await world.pass(rows).catch(() => undefined);
      if (world.object === undefined)
        expect([n, isRevoked === true || (await world.rows.read(id))?.isRevoked]).toEqual([n, true]);
    }
    expect([world.object, world.secret, (await world.rows.read(id))?.isRevoked]).toEqual([undefined, undefined, true]);
    if (count() < n) {
      expect(n).toBeGreaterThan(1);
      return;
    }
  }
});

test('a crash between a staged and a published token loses neither, and the old token is accepted until its time', async () => {
  await using world = await KeyFixture.open(pool);
  world.propagationMs = 5_000;
  world.apply();
  await world.converge();
  const old = world.token;
  world.apply({}, { annotations: { [ROTATE]: 'now' } });
  expect(await world.pass()).toBe(5_000);
  expect([world.token, await world.isAccepted(old), world.ready]).toEqual([old, true, 'True Registered']);
  world.restart();
  expect(await world.pass()).toBe(5_000);
  world.now += 5_000;
  expect(await world.pass()).toBeUndefined();
  expect([world.token === old, await world.isAccepted(), await world.isAccepted(old)]).toEqual([false, true, false]);
  expect(world.object?.status?.lastHandledRotation).toBe('now');
  const [row] = await pool.query<{ seconds: number }>(
    'SELECT extract(epoch FROM previous_until - now())::float AS seconds FROM gateway_keys WHERE id = $1',
    [world.object?.status?.keyId],
  );
  expect(Math.abs((row?.seconds ?? 0) - 120)).toBeLessThan(30);
});

test.each([
  [403, 'Forbidden'],
  [429, 'ApiServerBusy'],
  [500, 'ApiServerUnavailable'],
])(
  'a Secret that cannot be read (%i) is not taken for absent: the key stays ready, and a condition says %s',
  async (status, reason) => {
    await using world = await KeyFixture.open(pool);
    world.apply();
    await world.converge();
    const before = [world.token, (await world.row)?.token, world.object?.status?.keyId];
    world.fake.fault = failing(status, 'Failed', Infinity, ({ url = '' }) => url.includes('/secrets/'));
    await expect(world.pass()).rejects.toThrow(String(status));
    expect([world.token, (await world.row)?.token, world.object?.status?.keyId]).toEqual(before);
    expect([world.ready, world.reconciling]).toEqual(['True Registered', reason]);
    await waitUntil(() => world.events.includes(reason), { what: 'the event' });
    const version = world.object?.metadata.resourceVersion;
    await expect(world.pass()).rejects.toThrow(String(status));
    expect(world.object?.metadata.resourceVersion).toBe(version);
    world.fake.fault = undefined;
    await world.converge();
    expect([world.ready, world.reconciling]).toEqual(['True Registered', undefined]);
  },
);

const QUOTA = 'secrets "x" is forbidden: exceeded quota: small, requested: secrets=1, used: secrets=1, limited: secrets=1';
const WEBHOOK = 'admission webhook "policy.example.com" denied the request: no Secrets on Fridays';
const POLICY = "ValidatingAdmissionPolicy 'strict' with binding 'strict' denied request: no";
test.each([
  ['a quota', 403, 'Forbidden', QUOTA, 'QuotaExceeded'],
  ['a webhook', 400, 'BadRequest', WEBHOOK, 'AdmissionDenied'],
  ['a policy', 422, 'Invalid', POLICY, 'AdmissionDenied'],
  ['missing rights', 403, 'Forbidden', 'secrets is forbidden: User "x" cannot create resource', 'Forbidden'],
  ['an invalid label', 422, 'Invalid', 'metadata.labels: Invalid value: "not a label"', 'Invalid'],
  ['a size', 413, 'RequestEntityTooLarge', 'too large', 'Invalid'],
  ['a namespace that is gone', 404, 'NotFound', 'namespaces "team-a" not found', 'ApiServerRejected'],
  ['a server that is busy', 429, 'TooManyRequests', 'later', 'ApiServerBusy'],
  ['a server that fails', 500, 'InternalError', 'etcd', 'ApiServerUnavailable'],
])(
  'a Secret that is refused by %s: condition, event and observedGeneration in the first pass',
  async (_, status, reason, text, expected) => {
    await using world = await KeyFixture.open(pool);
    world.apply({ plan: undefined });
    let token = '';
    world.fake.fault = (request, response) => {
      if (request.method !== 'POST' || request.url?.endsWith('/secrets') !== true) return false;
      void (async () => {
        const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { data: { token: string } };
        token = Buffer.from(body.data.token, 'base64').toString();
        const message = `${text}, such as ${token} or ${body.data.token}`;
        response.writeHead(status).end(JSON.stringify({ kind: 'Status', reason, message, code: status }));
      })();
      return true;
    };
    const error = await world.pass().catch(String);
    expect(error).toContain(`${status} ${reason}`);
    expect([world.ready, world.object?.status?.observedGeneration, world.reconciling]).toEqual([
      `False ${expected}`,
      1,
      expected,
    ]);
    const { message = '' } = world.condition('Ready') ?? {};
    expect(message).toContain(text);
    expect([token.length > 20, `${error} ${message}`.includes(token.slice(4)), message.includes(btoa(token))]).toEqual([
      true,
      false,
      false,
    ]);
    await waitUntil(() => world.events.includes(expected), { what: 'the event' });
    world.fake.fault = undefined;
    await world.converge();
    expect([world.ready, world.reconciling]).toEqual(['True Registered', undefined]);
  },
);

test('a status that is refused is an event, and written as soon as it can be', async () => {
  await using world = await KeyFixture.open(pool);
  world.apply();
  world.fake.fault = failing(403, 'Forbidden', 2, ({ url = '' }) => url.endsWith('/status'));
  await expect(world.pass()).rejects.toThrow('403');
  await waitUntil(() => world.events.includes('Forbidden'), { what: 'the event' });
  await world.converge();
  expect(world.ready).toBe('True Registered');
});

test('messages of conditions are no longer than the definition allows', async () => {
  await using world = await KeyFixture.open(pool);
  world.apply({ permissions: Array.from({ length: 32 }, (_, n) => `${'x'.repeat(60)}:y${String.fromCharCode(97 + (n % 26))}`) });
  await world.pass();
  expect([world.ready, (world.condition('Ready')?.message ?? '').length]).toEqual(['False InvalidPermission', 2_048]);
});

test('while the database is unavailable a ready key stays ready, a new one reports the reason, and a deleted one stays', async () => {
  await using world = await KeyFixture.open(pool);
  const away = new Proxy(world.rows, {
    get: () => () => Promise.reject(new Fault('key_store_unavailable', { say: 'away' })),
  });
  world.apply();
  await expect(world.pass(away)).rejects.toThrow('away');
  expect([world.ready, world.secret]).toEqual(['False DatabaseUnavailable', undefined]);
  await world.converge();
  expect(world.ready).toBe('True Registered');
  world.restart();
  await expect(world.pass(away)).rejects.toThrow('away');
  expect(world.ready).toBe('True Registered');
  world.fake.delete(world.path);
  await expect(world.pass(away)).rejects.toThrow('away');
  expect([world.ready, world.object?.metadata.finalizers]).toEqual(['False Revoking', ['vitrine.dev/gateway-key']]);
  await world.converge();
  expect(world.object).toBeUndefined();
});
