import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { createLogger } from '@vitrine/telemetry/logger';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readGatewayConfig } from '../config.ts';
import { checkAuth } from '../cli/doctor/auth-check.ts';
import { openKeys } from './keys/open-keys.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const OWNER = 'owner-token-0123456789-0123456789';
const YAML = `auth: {keys: [{id: owner, token: ${OWNER}, role: owner}]}`;
const RIGHT = `1:${'p'.repeat(40)}`;

const running: TestGateway[] = [];
let opened: AsyncDisposableStack;
beforeEach(() => {
  opened = new AsyncDisposableStack();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway[Symbol.asyncDispose]()));
  await opened.disposeAsync();
});

async function sqlite() {
  const { path } = opened.use(await temporaryFolder('peppers'));
  return { SVC_STORAGE_PATH: join(path, 'traces.db') };
}
async function postgres() {
  const dsn = new URL(opened.use(await templateDatabase()).dsn.reveal());
  dsn.searchParams.set('options', '-c role=vitrine_gateway');
  return { SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: dsn.href };
}
async function start(storage: Readonly<Record<string, string>>, peppers?: string) {
  const variables = { ...storage, SVC_AUTH_ENABLED: 'true', ...(peppers && { SVC_AUTH_PEPPERS: peppers }) };
  const gateway = await startTestGateway(variables, YAML);
  running.push(gateway);
  return gateway;
}
async function stop(gateway: TestGateway) {
  running.splice(running.indexOf(gateway), 1);
  await gateway[Symbol.asyncDispose]();
}
const call = async ({ url }: TestGateway, token: string, method = 'GET', path = '') => {
  const response = await fetch(`${url}/api/gateway-keys${path}`, { method, headers: { 'x-svc-gateway-key': token } });
  const text = await response.text();
  return {
    status: response.status,
    body: (text === '' ? {} : JSON.parse(text)) as { token?: string; id?: string; error?: string },
  };
};
const makeKey = async (gateway: TestGateway) => {
  const { body } = await call(gateway, OWNER, 'POST');
  return { id: body.id ?? '', token: body.token ?? '' };
};
const reasonsOf = async (gateway: TestGateway) => ((await gateway.get('/api/health')) as { reasons?: string[] }).reasons ?? [];
const logged = ({ log }: TestGateway, message: string) =>
  log.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === message);

describe.each([
  ['SQLite', sqlite],
  ['Postgres', postgres],
])('on %s, a gateway', (_, openStorage) => {
  test.each([
    ['without the pepper of a key', `2:${'q'.repeat(40)}`, 'pepper_missing', 'the pepper of version 1 is missing'],
    ['with another secret under its version', `1:${'x'.repeat(40)}`, 'pepper_different', 'is not the one that hashed'],
  ])('%s reports it, answers its tokens with 503, creates no key and changes nothing', async (__, wrong, errorClass, cause) => {
    const storage = await openStorage();
    const first = await start(storage, RIGHT);
    const { token } = await makeKey(first);
    await stop(first);

    const gateway = await start(storage, wrong);
    expect(await reasonsOf(gateway)).toEqual(['pepper_mismatch']);
    expect(logged(gateway, 'peppers do not match the stored tokens')).toMatchObject([
      {
        error_class: errorClass,
        cause: expect.stringContaining(cause),
        pepper_version: 1,
        hashes: 1,
        next_step: expect.any(String),
      },
    ]);
    expect(await call(gateway, token)).toEqual({ status: 503, body: { error: 'gateway key verification unavailable' } });
    expect((await call(gateway, '')).status).toBe(401);
    expect(await call(gateway, OWNER)).toMatchObject({ status: 200 });
    expect(await call(gateway, OWNER, 'POST')).toMatchObject({ status: 503, body: { error: expect.stringContaining(cause) } });
    const env = { ...storage, SVC_AUTH_ENABLED: 'true', SVC_AUTH_PEPPERS: wrong };
    const check = await checkAuth(readGatewayConfig(undefined, env), []);
    expect(check).toMatchObject({ status: 'fail', summary: expect.stringContaining(cause) });
    expect(check.summary).toContain('auth.peppers (SVC_AUTH_PEPPERS)');
    await stop(gateway);

    const right = await start(storage, RIGHT);
    expect(await reasonsOf(right)).toEqual([]);
    expect((await call(right, token)).status).toBe(403);
  });

  test('notices within its refresh that another process uses a pepper that it does not have', async () => {
    const storage = await openStorage();
    const behind = await start(storage, RIGHT);
    const env = { ...storage, SVC_AUTH_ENABLED: 'true', SVC_AUTH_PEPPERS: `2:${'q'.repeat(40)},${RIGHT}` };
    const silent = createLogger('svc-gateway', 'silent', { write: () => true });
    await using ahead = await openKeys(readGatewayConfig(undefined, env), silent);
    const { token } = await ahead.keys.create({ identity: undefined, correlationId: 'c' }, {});
    await waitUntil(async () => (await reasonsOf(behind)).includes('pepper_mismatch'), { what: 'the reason', timeoutMs: 35_000 });
    expect((await call(behind, token)).status).toBe(503);
  });

  test('whose pepper is lost recovers when its keys are rotated or revoked', async () => {
    const storage = await openStorage();
    const first = await start(storage, RIGHT);
    const [kept, given] = [await makeKey(first), await makeKey(first)];
    await stop(first);
    const gateway = await start(storage, `2:${'q'.repeat(40)}`);
    const rotated = await call(gateway, OWNER, 'POST', `/${kept.id}/rotate`);
    expect(rotated.status).toBe(200);
    await call(gateway, OWNER, 'DELETE', `/${given.id}`);
    await stop(gateway);
    const next = await start(storage, `2:${'q'.repeat(40)}`);
    expect([await reasonsOf(next), (await call(next, rotated.body.token ?? '')).status]).toEqual([[], 403]);
    expect((await call(next, kept.token)).status).toBe(401);
  });
});

test('a recreated pepper file is another pepper, which cannot verify keys of the lost one', async () => {
  const storage = await sqlite();
  const path = join(storage.SVC_STORAGE_PATH, '..', 'gateway-keys.pepper');
  const first = await start(storage);
  const { token } = await makeKey(first);
  await stop(first);
  const text = readFileSync(path, 'utf8');
  rmSync(path);
  const env = { ...storage, SVC_AUTH_ENABLED: 'true' };
  expect(await checkAuth(readGatewayConfig(undefined, env), [])).toMatchObject({
    status: 'fail',
    summary: expect.stringMatching(/is missing.*gateway-keys\.pepper/),
  });
  const gateway = await start(storage);
  expect([await reasonsOf(gateway), (await call(gateway, token)).status]).toEqual([['pepper_mismatch'], 503]);
  expect(text).not.toBe(readFileSync(path, 'utf8'));
});
