import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestStoreApi, testVariables, type TestStoreApi } from '../testing/start-test-store-api.ts';
import { STORE_API_COMMAND_LINE } from './registry.ts';

let api: TestStoreApi;
beforeAll(async () => {
  api = await startTestStoreApi();
});
afterAll(async () => api[Symbol.asyncDispose]());

const run = (...args: string[]) => runCaptured(STORE_API_COMMAND_LINE, args, { env: testVariables(api.database) });
const json = async <T>(...args: string[]): Promise<T> => JSON.parse((await run(...args, '--format', 'json')).stdout) as T;
const createWorkspace = async (...args: string[]) =>
  (await json<{ id: string }>('workspace', 'create', '--admin', 'Ada@Example.com', ...args)).id;
const createKey = (workspace: string, ...args: string[]) =>
  json<{ id: string; secret: string; prefix: string; scopes: string[]; expires_at: string | null }>(
    'key',
    'create',
    '--workspace',
    workspace,
    '--label',
    'ci',
    ...args,
  );

test('every command has help with an example', async () => {
  for (const { name } of STORE_API_COMMAND_LINE.commands) {
    const { code, stdout } = await run(...name.split(' '), '--help');
    expect([name, code, stdout]).toEqual([name, 0, expect.stringMatching(/Examples?:\n/)]);
  }
});

describe('keys', () => {
  test('a key is shown once, works at once and is refused after its revocation; both changes are audited without its secret', async () => {
    const workspace = await createWorkspace('--plan', 'pro', '--name', 'Acme');
    const created = await run('key', 'create', '--workspace', workspace, '--label', 'first', '--preset', 'full');
    const [secret = ''] = /svc_live_\S{43}/.exec(created.stdout) ?? [];
    const account = await api.request('/v1/account', { token: secret });
    expect([account.status, account.json]).toMatchObject([
      200,
      { workspace: { id: workspace, name: 'Acme' }, key: { label: 'first' }, plan: { slug: 'pro' } },
    ]);
    const { key } = account.json as { key: { id: string } };
    const listed = await run('key', 'list', '--workspace', workspace);
    expect(listed.stdout).toMatch(new RegExp(`^ID .*\\n${key.id} .* active  first\\n$`));
    const revoked = await run('key', 'revoke', key.id);
    expect([revoked.code, (await api.request('/v1/account', { token: secret })).status]).toEqual([0, 401]);
    const audit = [created, revoked].map(({ stderr }) => JSON.parse(stderr) as object);
    expect(audit).toMatchObject([
      { audit: 'key_created', key_id: key.id, workspace_id: workspace, prefix: secret.slice(0, 13) },
      { audit: 'key_revoked', key_id: key.id },
    ]);
    expect(created.stderr + revoked.stderr + revoked.stdout + listed.stdout).not.toContain(secret.slice(13));
  });

  test('presets, scopes and expiry', async () => {
    const workspace = await createWorkspace();
    expect((await createKey(workspace)).scopes).toEqual(['read:stores', 'read:signals']);
    expect((await createKey(workspace, '--preset', 'partner')).scopes).toEqual(['read:stores', 'write:scans']);
    expect((await createKey(workspace, '--scope', 'read:jobs', '--scope', 'read:jobs')).scopes).toEqual(['read:jobs']);
    const { expires_at } = await createKey(workspace, '--expires', '90d');
    expect(Date.parse(expires_at ?? '') - Date.now()).toBeGreaterThan(89 * 86_400_000);
    const nextYear = String(new Date().getUTCFullYear() + 1);
    expect((await createKey(workspace, '--expires', `${nextYear}-12-31`)).expires_at).toBe(`${nextYear}-12-31T00:00:00Z`);
  });

  test.each([
    [['key', 'create', '--label', 'x'], '--workspace is required'],
    [
      ['key', 'create', '--workspace', 'ws_x', '--label', 'x', '--preset', 'full', '--scope', 'read:jobs'],
      '--preset and --scope cannot be combined',
    ],
    [['key', 'create', '--workspace', 'ws_x', '--label', 'x', '--expires', 'soon'], '--expires must be a date'],
    [['key', 'create', '--workspace', 'ws_x', '--label', 'x', '--expires', '2020-01-01'], '--expires must be in the future'],
    [['workspace', 'create', '--admin', 'nobody'], '--admin must be an e-mail address'],
    [['denylist', 'add', 'localhost'], '"localhost" must be a host name'],
    [['login-link', '--workspace', 'ws_x', '--email', 'a@example.com', '--expires', '2d'], '--expires must be a number'],
  ])('wrong arguments end with 2 and a usage hint: %j', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test.each([
    [['key', 'create', '--workspace', 'ws_x', '--label', 'x'], 'there is no workspace ws_x'],
    [['key', 'revoke', 'key_x'], 'there is no key key_x'],
    [['usage', '--workspace', 'ws_x'], 'there is no workspace ws_x'],
    [['login-link', '--workspace', 'ws_x', '--email', 'a@example.com'], 'is not a member of workspace ws_x'],
  ])('a missing object ends with 1: %j', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});

test('a workspace is listed with its admin, and a login link leads to the console', async () => {
  const workspace = await createWorkspace('--name', 'Listed');
  expect((await run('workspace', 'list')).stdout).toMatch(new RegExp(`${workspace} +Listed +free +\\d+ +ada@example.com`));
  const { stdout, stderr } = await run('login-link', '--workspace', workspace, '--email', 'ada@example.com');
  expect(stdout).toMatch(/^\n {2}https:\/\/example\.com\/login\?token=svc_login_\S{43}\n/);
  expect(stderr).not.toContain('svc_login_');
});

test.each([
  [
    'away',
    (url: URL) => (url.port = '1'),
    /^store-api: the database failed: connect ECONNREFUSED .*\nstart the database of the DSN, .*docs\//,
  ],
  ['another one', (url: URL) => (url.pathname = '/nowhere'), /"nowhere" does not exist\ncreate the database .* npm run migrate/],
  ['not migrated', (url: URL) => (url.pathname = '/postgres'), /relation "api_keys" does not exist\nrun npm run migrate/],
])('a database that is %s ends a command with 1 and a next step', async (_, change, message) => {
  const variables = testVariables(api.database);
  const dsn = new URL(variables['STORE_API_STORAGE_DSN'] ?? '');
  change(dsn);
  const { code, stderr } = await runCaptured(STORE_API_COMMAND_LINE, ['key', 'list'], {
    env: { ...variables, STORE_API_STORAGE_DSN: dsn.href },
  });
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
});

test('creating a workspace prints the next command for the same store API, and its time as a date-time', async () => {
  await using folder = await temporaryFolder('config');
  const config = join(folder.path, 'store-api.yaml');
  writeFileSync(config, 'log: { level: info }');
  const { stdout } = await run('workspace', 'create', '--admin', 'ada@example.com', '--config', config);
  expect(stdout).toMatch(
    new RegExp(`npm run store-api -- key create --workspace ws_\\w{26} --label first --config ${config}\n$`),
  );
  const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(await json('workspace', 'create', '--admin', 'bob@example.com')).toMatchObject({ created_at });
  const { items } = await json<{ items: object[] }>('workspace', 'list');
  expect(items).toEqual(items.map(() => expect.objectContaining({ created_at })));
});

test('denylist entries are added, listed and removed', async () => {
  expect((await run('denylist', 'add', 'https://www.Denied.com/x', '--reason', 'asked for it')).stdout).toBe(
    'denied.com is on the denylist.\n',
  );
  expect((await run('denylist', 'list')).stdout).toMatch(/^DOMAIN .*\ndenied\.com .* asked for it\n$/);
  const second = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(await json('denylist', 'list')).toEqual({
    items: [{ domain: 'denied.com', reason: 'asked for it', created_at: second }],
  });
  expect((await run('denylist', 'remove', 'denied.com')).code).toBe(0);
  expect(await run('denylist', 'remove', 'denied.com')).toMatchObject({
    code: 1,
    stdout: 'denied.com was not on the denylist.\n',
  });
});

test('a list of domains is imported, and its invalid lines are printed by number', async () => {
  await using folder = await temporaryFolder('corpus');
  const file = join(folder.path, 'domains.csv');
  writeFileSync(file, 'domain,rank\nimported-1.com,1\nlocalhost,2\nimported-2.com,3\n');
  const stopped = await run('corpus', 'import', file);
  expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringContaining(`${file}:3: domain must be a host name`)]);
  expect(stopped.stdout).toBe(
    '3 lines: 1 domains were added, 0 ranks changed, 1 lines were not read. Stopped at line 3; fix it, or use --keep-going.\n',
  );
  expect(await json('corpus', 'import', file, '--keep-going')).toMatchObject({
    lines: 4,
    added: 1,
    bad: 1,
    bad_lines: [{ line: 3 }],
  });
  await expect(run('corpus', 'import', join(folder.path, 'missing.csv'))).rejects.toMatchObject({ code: 'corpus_unreadable' });
  await expect(run('corpus', 'import', folder.path)).rejects.toMatchObject({ code: 'corpus_unreadable' });
});

test('vocabulary, profiles, usage and ledger', async () => {
  expect((await run('technologies', 'import')).code).toBe(0);
  expect(await json('technologies', 'import')).toMatchObject({ changed: 0 });
  expect(await json('profiles', 'render')).toEqual({ rendered: 0 });
  const workspace = await createWorkspace();
  expect((await run('usage', '--workspace', workspace)).stdout).toMatch(new RegExp(`${workspace}  free  \\S+  0/25 +0/0 +0/0`));
  expect(await run('reconcile')).toMatchObject({ code: 0, stdout: 'Counters of workspaces and keys equal the ledger.\n' });
  await api.database.owner.execute(
    `INSERT INTO usage_counters (workspace_id, starts_at, lookup_cached) VALUES ($1, '2026-01-05', 3)`,
    [workspace],
  );
  const { code, stdout } = await run('reconcile');
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(new RegExp(`${workspace}  2026-01-05T00:00:00Z  lookup_cached  3 +`)),
  ]);
});
