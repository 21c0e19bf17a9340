import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { auditEventPage, type AuditEventPage } from '@vitrine/gateway-keys/audit-event-page';
import type { AuditEvent } from '@vitrine/gateway-keys/audit-log';
import { SqliteKeyStore } from '@vitrine/gateway-keys/sqlite/sqlite-key-store';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';
import { gatewayCommandLine } from '../registry.ts';

const OWNER = 'owner-token-0123456789-0123456789';
const SECRET = 'sk-secret-0123456789';
const YAML = `auth: {enabled: true, keys: [{id: owner, token: ${OWNER}, org_id: acme, workspace_id: search, role: owner}]}`;
const T0 = Date.UTC(2026, 0, 5, 12);
const event = (at: number, fields: Partial<AuditEvent>): AuditEvent => ({
  at,
  actor: 'k',
  action: 'request',
  target: 'GET /x',
  outcome: 'deny',
  reason: 'forbidden',
  correlation_id: 'c',
  org_id: 'acme',
  workspace_id: 'search',
  ...fields,
});

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({}, YAML);
  using store = new SqliteKeyStore(join(gateway.folder, 'gateway-keys.db'));
  store.appendAudit([
    event(T0, { actor: '', org_id: '', workspace_id: '', reason: 'unauthorized', target: `GET /${SECRET}\u001b[2J` }),
    event(T0 + 1, { action: 'gateway_key.create', outcome: 'allow', reason: '', target: 'made' }),
    event(T0 + 2, { org_id: 'beta', actor: 'b' }),
    event(T0 + 3, { workspace_id: 'other' }),
    event(T0 + 86_400_000, { actor: 'system', action: 'gateway_key.revoke', outcome: 'allow', reason: '' }),
  ]);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const run = (args: readonly string[], folder = gateway.folder) =>
  runCaptured(gatewayCommandLine, ['audit', ...args], { env: { SVC_STORAGE_PATH: join(folder, 'traces.db') } });
const pageOf = async (...args: string[]): Promise<AuditEventPage> =>
  auditEventPage.parse(JSON.parse((await run([...args, '--format', 'json'])).stdout));
const OURS = ['--from', '2026-01-05', '--to', '2026-01-06'];
const oursWith = (args: readonly string[]) => [...(args.includes('--to') ? OURS.slice(0, 2) : OURS), ...args];
const times = async (...args: string[]) => (await pageOf(...oursWith(args))).items.map(({ at }) => Date.parse(at) - T0);

describe('gateway audit', () => {
  test('prints a table of all tenants, newest first, without credentials', async () => {
    const { code, stdout } = await run(OURS);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^AT +OUTCOME +ACTION +TARGET +ACTOR +REASON +ORG +WORKSPACE +CORRELATION ID$/);
    expect(lines[1]).toMatch(/^2026-01-06T12:00:00\.000Z +allow +gateway_key\.revoke +GET \/x +system +- +acme +search +c$/);
    expect(lines[5]).toMatch(/^2026-01-05T12:00:00\.000Z +deny +request +GET .* +- +unauthorized +- +- +c$/);
    expect(lines).toHaveLength(6);
    expect(stdout).not.toMatch(new RegExp(`${SECRET}|\u001b`));
  });

  test('prints the JSON of the API', async () => {
    const page = await pageOf(...OURS, '--org-id', 'acme', '--workspace-id', 'search');
    const response = await fetch(`${gateway.url}/api/audit-events?from=2026-01-05&to=2026-01-06`, {
      headers: { 'x-svc-gateway-key': OWNER },
    });
    expect(page).toEqual(await response.json());
    expect(page.items).toHaveLength(2);
  });

  test.each([
    [[], [86_400_000, 3, 2, 1, 0]],
    [['--action', 'gateway_key.create'], [1]],
    [
      ['--outcome', 'allow'],
      [86_400_000, 1],
    ],
    [
      ['--actor', 'k'],
      [3, 1],
    ],
    [
      ['--org-id', 'acme'],
      [86_400_000, 3, 1],
    ],
    [
      ['--workspace-id', 'search'],
      [86_400_000, 2, 1],
    ],
    [['--org-id', 'acme', '--workspace-id', 'other'], [3]],
    [
      ['--limit', '2'],
      [86_400_000, 3],
    ],
    [
      ['--to', '2026-01-05T12:00:00.001Z'],
      [1, 0],
    ],
  ])('%j shows %j', async (args, expected) => {
    expect(await times(...args)).toEqual(expected);
  });

  test('continues where a list ended', async () => {
    const first = await pageOf(...OURS, '--limit', '3');
    const { stdout } = await run([...OURS, '--limit', '3']);
    expect(stdout).toContain(`continue with --cursor ${first.next_cursor ?? 'none'}\n`);
    const rest = await pageOf(...OURS, '--limit', '3', '--cursor', first.next_cursor ?? '');
    expect(rest.items.map(({ at }) => Date.parse(at) - T0)).toEqual([1, 0]);
    expect(rest).not.toHaveProperty('next_cursor');
  });

  test('prints a message when there are no events', async () => {
    expect((await run(['--actor', 'no-one'])).stdout).toBe('No audit events found.\n');
    expect(await pageOf('--actor', 'no-one')).toEqual({ items: [] });
  });

  test('reads the database of an earlier version without changing it', async () => {
    await using folder = await temporaryFolder('audit');
    const path = join(folder.path, 'gateway-keys.db');
    {
      using database = new DatabaseSync(path);
      const tables = new URL(
        '../../../../../packages/access/gateway-keys/src/sqlite/testdata/keys-schema-1.sql',
        import.meta.url,
      );
      database.exec(readFileSync(tables, 'utf8'));
      database.exec("INSERT INTO audit_events VALUES (1, 7, 'system', 'gateway_key.revoke', 'k', 'allow', '', 'c', '', '')");
    }
    const before = readFileSync(path);
    expect((await run([], folder.path)).stdout).toMatch(/gateway_key\.revoke +k +system/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each([
    ['it is not a database', 'these are my notes. '.repeat(200), 'the file is text and not an SQLite database'],
    ['it is empty', '', 'the file contains no gateway keys'],
  ])('ends with a fault that names the file when %s', async (_, text, reason) => {
    await using folder = await temporaryFolder('audit');
    const path = join(folder.path, 'gateway-keys.db');
    writeFileSync(path, text);
    await expect(run([], folder.path)).rejects.toMatchObject({ code: 'key_store_unavailable', log: { path, reason } });
  });

  test('ends with a fault that names the file when it does not exist', async () => {
    await using folder = await temporaryFolder('audit');
    await expect(run([], folder.path)).rejects.toMatchObject({
      code: 'storage_unusable',
      message: expect.stringContaining(`${join(folder.path, 'gateway-keys.db')} does not exist`),
    });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test.each([
    [['--limit', '0'], '--limit must be a whole number from 1 to 10000'],
    [['--outcome', 'maybe'], 'invalid outcome: "maybe"'],
    [['--action', 'x'], 'invalid action: "x"'],
    [['--from', 'yesterday'], 'invalid from'],
    [['--from', '2026-01-02', '--to', '2026-01-01'], 'to must be greater than or equal to from'],
    [['--cursor', 'x'], 'invalid cursor'],
    [['--org-id', ''], '--org-id must not be empty'],
    [['--workspace-id', ''], '--workspace-id must not be empty'],
    [['--actor', ''], '--actor must not be empty'],
    [['--format', 'xml'], '--format must be text or json'],
    [['more'], 'unexpected argument: more'],
  ])('%j is a usage error', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toContain('Examples:');
  });
});
