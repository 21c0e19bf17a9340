import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { storeDatabase, TEST_PEPPER, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { STORE_API_COMMAND_LINE } from './commands/registry.ts';
import { startTestStoreApi, testVariables, type TestStoreApi } from './testing/start-test-store-api.ts';

const OTHER_SECRET = `1:${'o'.repeat(40)}`;
const NEW = `2:${'q'.repeat(40)}`;

let database: StoreDatabase;
beforeAll(async () => {
  database = await storeDatabase();
});
afterAll(async () => database[Symbol.asyncDispose]());

const start = (peppers = TEST_PEPPER) => startTestStoreApi({ STORE_API_AUTH_PEPPERS: peppers }, database);
const run = async (args: readonly string[], peppers = TEST_PEPPER) => {
  const env = { ...testVariables(database), STORE_API_AUTH_PEPPERS: peppers };
  return await runCaptured(STORE_API_COMMAND_LINE, args, { env });
};
const readiness = async (api: TestStoreApi) => (await api.request('/readyz')).json;
const untilReady = (api: TestStoreApi) =>
  waitUntil(async () => (await readiness(api))['status'] === 'ready', { what: 'the store API', timeoutMs: 20_000 });
const account = (api: TestStoreApi, token: string) => api.request('/v1/account', { token });

/** A workspace and a key, created by the commands. */
async function makeKey(): Promise<{ readonly token: string; readonly workspace: string }> {
  const created = await run([
    'workspace',
    'create',
    '--name',
    'Acme',
    '--admin',
    'ada@example.com',
    '--plan',
    'partner',
    '--format',
    'json',
  ]);
  const { id: workspace } = JSON.parse(created.stdout) as { id: string };
  const args = ['key', 'create', '--workspace', workspace, '--label', 'x', '--preset', 'full', '--format', 'json'];
  const { secret: token } = JSON.parse((await run(args)).stdout) as { secret: string };
  return { token, workspace };
}

test.each([
  ['another secret under its version', OTHER_SECRET, 'pepper_different'],
  ['a version that no token has', NEW, 'pepper_missing'],
])('a store API with %s is not ready and refuses no key as unknown', async (_, peppers, errorClass) => {
  const { token, workspace } = await makeKey();
  await using right = await start();
  await using wrong = await start(peppers);
  await untilReady(right);
  await waitUntil(async () => JSON.stringify(await readiness(wrong)).includes('pepper_mismatch'), { what: 'the mismatch' });
  expect((await account(right, token)).status).toBe(200);
  for (let n = 0; n < 3; n += 1) {
    const { status, headers, json } = await account(wrong, token);
    expect([status, headers.get('retry-after'), json['error']]).toMatchObject([503, '5', { code: 'internal' }]);
  }
  const lines = wrong.log.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ msg }) => msg === 'peppers do not match the stored tokens')).toMatchObject([
    { error_class: errorClass, pepper_version: 1, next_step: expect.stringContaining('STORE_API_AUTH_PEPPERS') },
  ]);
  expect((await account(right, `svc_live_${'n'.repeat(43)}`)).status).toBe(401);
  const args = ['key', 'create', '--workspace', workspace, '--label', 'x', '--preset', 'full'];
  await expect(run(args, peppers)).rejects.toMatchObject({ code: 'pepper_mismatch' });
  expect((await run(['key', 'peppers'], peppers)).code).toBe(1);
});

test('a key rehashed with a pepper that a store API lacks is never 401 there, from the first request on', async () => {
  const { token } = await makeKey();
  await using lacking = await start();
  await untilReady(lacking);
  expect((await account(lacking, token)).status).toBe(200);
  const third = `3:${'r'.repeat(40)}`;
  // Used tokens are rehashed at the latest when it stops.
  const moving = await start(`${third},${TEST_PEPPER}`);
  await untilReady(moving);
  expect((await account(moving, token)).status).toBe(200);
  await moving[Symbol.asyncDispose]();
  for (let n = 0; n < 3; n += 1) expect((await account(lacking, token)).status).toBe(503);
  expect(JSON.stringify(await readiness(lacking))).toContain('pepper_mismatch');
  // Other tests do not have its pepper.
  await database.owner.execute('UPDATE api_keys SET revoked_at = now() WHERE pepper_version = 3');
});

test('a pepper is rotated below two store APIs under load in two steps, and no request fails', async () => {
  const [used, unused] = [await makeKey(), await makeKey()];
  let fleet = [await start(), await start()];
  await Promise.all(fleet.map(untilReady));
  const over = new AbortController();
  await using stopped = new AsyncDisposableStack();
  stopped.defer(async () => {
    over.abort();
    for (const api of fleet) await api[Symbol.asyncDispose]();
  });
  const failures: number[] = [];
  let requests = 0;
  const inFlight = new Map<TestStoreApi, number>();
  const client = async () => {
    for (; !over.signal.aborted; requests += 1) {
      const api = fleet[requests % fleet.length] as TestStoreApi;
      inFlight.set(api, (inFlight.get(api) ?? 0) + 1);
      const { status } = await account(api, used.token);
      inFlight.set(api, (inFlight.get(api) ?? 0) - 1);
      // One client sends more requests than its key allows per minute.
      if (status !== 200 && status !== 429) failures.push(status);
    }
  };
  const clients = [client(), client()];
  /** As behind a Service: a new replica is ready before an old one stops. */
  const replaceAll = async (peppers: string) => {
    for (const leaving of fleet) {
      const next = await start(peppers);
      await untilReady(next);
      fleet = [...fleet.filter((one) => one !== leaving), next];
      await waitUntil(() => inFlight.get(leaving) === 0, { what: 'requests of the one that leaves' });
      await leaving[Symbol.asyncDispose]();
    }
  };
  const peppersOf = async (peppers: string) =>
    JSON.parse((await run(['key', 'peppers', '--format', 'json'], peppers)).stdout) as {
      items: { version: number; hashes: number }[];
    };
  const ofVersion = async (peppers: string, version: number) =>
    (await peppersOf(peppers)).items.find((one) => one.version === version)?.hashes ?? 0;

  // Accept.
  await replaceAll(`${TEST_PEPPER},${NEW}`);
  expect(await ofVersion(`${TEST_PEPPER},${NEW}`, 2)).toBe(0);
  // Use.
  const both = `${NEW},${TEST_PEPPER}`;
  await replaceAll(both);
  await waitUntil(async () => (await ofVersion(both, 2)) === 1, { what: 'the key that is used to move', timeoutMs: 30_000 });
  for (const api of fleet) expect((await account(api, unused.token)).status).toBe(200);
  await waitUntil(async () => (await ofVersion(both, 2)) === 2, { what: 'the other key to move', timeoutMs: 30_000 });
  // Keys of other tests are no longer used.
  await database.owner.execute('UPDATE api_keys SET revoked_at = now() WHERE pepper_version = 1');
  expect(await run(['key', 'peppers'], both)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('no token needs it any more'),
  });
  await replaceAll(NEW);
  for (const { token } of [used, unused]) expect([200, 429]).toContain((await account(fleet[0] as TestStoreApi, token)).status);
  over.abort();
  await Promise.all(clients);
  expect([failures, requests > 50]).toEqual([[], true]);
});
