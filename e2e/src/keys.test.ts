import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GATEWAY, startGateway, type RunningGateway } from './running-gateway.ts';
import { startProcess } from './running-process.ts';

interface Key {
  readonly id: string;
  readonly token: string;
}

let opened: AsyncDisposableStack;
let folder: string;
let openai: MockProvider;
let gateway: RunningGateway;
beforeAll(async () => {
  opened = new AsyncDisposableStack();
  folder = opened.use(await temporaryFolder('keys')).path;
  openai = opened.use(await startMockOpenai());
  await writeFile(join(folder, 'vitrine.yaml'), 'plans: { gold: { per_key: { requests_per_minute: 1000 } }, silver: {} }\n');
  gateway = opened.use(await startGateway({ folder, upstream: openai.url, variables: { SVC_AUTH_ENABLED: 'true' } }));
});
afterAll(async () => opened.disposeAsync());

/** Runs `gateway keys ...` on the same folder, like an operator while the gateway is running. */
async function keys(...args: string[]) {
  await using running = startProcess({
    command: [...GATEWAY, 'keys', ...args],
    cwd: folder,
    env: { SVC_STORAGE_PATH: join(folder, 'traces.db'), SVC_AUTH_ENABLED: 'true' },
  });
  const { code } = await running.end();
  return { code, stdout: running.stdout, stderr: running.stderr };
}
const create = async (...args: string[]) => JSON.parse((await keys('create', '--format', 'json', ...args)).stdout) as Key;

const status = async (token: string, path = '/openai/v1/models') => {
  const headers = { 'x-svc-gateway-key': token, authorization: 'Bearer sk-test-0123456789' };
  const response = await fetch(gateway.url + path, { headers });
  await response.arrayBuffer();
  return response.status;
};
const becomes = (token: string, wanted: number) => waitUntil(async () => (await status(token)) === wanted, { what: `${wanted}` });

describe('the command line beside a running gateway', () => {
  test('a gateway without a key logs how to create one and refuses every request', async () => {
    await gateway.process.says(/gateway keys create --role owner.*no gateway key exists/);
    expect(await status('sgk_none')).toBe(401);
  });

  test('a first key is created, accepted, rotated, revoked, and refused', async () => {
    const made = await keys('create', '--role', 'owner', '--name', 'first');
    const [token = ''] = /sgk_[\w-]{32}/.exec(made.stdout) ?? [];
    const [id = ''] = /gk_[0-9a-f]{16}/.exec(made.stdout) ?? [];
    expect([made.code, made.stderr]).toEqual([0, '']);
    await becomes(token, 200);
    expect(await status(token, '/api/gateway-keys')).toBe(200);

    const rotated = JSON.parse((await keys('rotate', id, '--format', 'json')).stdout) as Key;
    await becomes(token, 401);
    await becomes(rotated.token, 200);

    expect(await keys('revoke', id)).toEqual({ code: 0, stdout: `Gateway key ${id} is revoked.\n`, stderr: '' });
    await becomes(rotated.token, 401);
    expect(await keys('revoke', id)).toEqual({ code: 1, stdout: '', stderr: 'gateway: gateway key not found\n' });
  });

  test('list prints a table or JSON, without tokens', async () => {
    const key = await create('--org', 'acme', '--workspace', 'search', '--role', 'viewer', '--permission', 'proxy:write');
    const table = await keys('list', '--org', 'acme');
    expect(table.stdout).toMatch(/^ID +ORG +WORKSPACE +ROLE +PERMISSIONS/);
    expect(table.stdout).toMatch(new RegExp(`^${key.id} +acme +search +viewer +proxy:write `, 'm'));
    const { items } = JSON.parse((await keys('list', '--format', 'json')).stdout) as { items: Key[] };
    expect(items).toContainEqual(expect.objectContaining({ id: key.id, org_id: 'acme', permissions: ['proxy:write'] }));
    expect(JSON.stringify(items) + table.stdout).not.toContain(key.token);
    expect((await keys('list', '--org', 'unknown')).stdout).toMatch(/^There are no gateway keys of that organisation/);
  });

  test('the plan of a key is set on the command line', async () => {
    const { id } = await create('--plan', 'gold', '--role', 'viewer');
    expect((await keys('list')).stdout).toMatch(new RegExp(`^${id} .* gold `, 'm'));
    const { code, stderr } = await keys('create', '--plan', 'lead', '--id', 'unplanned');
    expect([code, stderr]).toEqual([1, 'gateway: --plan: unknown plan "lead"; configured plans: gold, silver\n']);
    expect((await keys('list')).stdout).not.toContain('unplanned');
  });

  test('--help has an example and ends with 0', async () => {
    for (const command of ['create', 'list', 'rotate', 'revoke']) {
      const { code, stdout } = await keys(command, '--help');
      expect([code, stdout]).toEqual([0, expect.stringContaining(`npm run gateway -- keys ${command}`)]);
    }
  });

  test.each([
    ['an unknown option', 2, ['create', '--colour', 'red']],
    ['no id', 2, ['revoke']],
    ['an unknown command', 2, ['paint']],
    ['an unknown format', 2, ['list', '--format', 'xml']],
    ['an unknown permission', 1, ['create', '--permission', 'all']],
    ['an id that is taken', 1, ['create', '--id', 'taken']],
  ])('%s ends with %i and one sentence', async (_, code, args) => {
    if (args.includes('taken')) await create('--id', 'taken');
    const ended = await keys(...args);
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    expect(ended.stderr).toMatch(/^gateway: ./);
    expect(ended.stderr).not.toMatch(/^\s+at .+:\d+/m);
    expect(ended.stderr.includes('usage:')).toBe(code === 2);
  });
});

test('keys are stored beside the traces, and only the owner may read their pepper', async () => {
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['gateway-keys.db', 'gateway-keys.pepper', 'traces.db']));
  expect((await stat(join(folder, 'gateway-keys.pepper'))).mode & 0o777).toBe(0o600);
});

test('a key survives a restart, with its last use', async () => {
  const key = await create('--role', 'owner');
  await becomes(key.token, 200);
  gateway.process.signal('SIGTERM');
  expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
  const { items } = JSON.parse((await keys('list', '--format', 'json')).stdout) as { items: (Key & { last_used_at?: string })[] };
  expect(items.find(({ id }) => id === key.id)?.last_used_at).toMatch(/Z$/);
  gateway = opened.use(await startGateway({ folder, upstream: openai.url, variables: { SVC_AUTH_ENABLED: 'true' } }));
  expect(await status(key.token)).toBe(200);
});
