import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { messageOf } from '@vitrine/faults/fault';
import { gatewayKeyWithToken, type GatewayKeyWithToken } from '@vitrine/gateway-keys/gateway-key';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gatewayCommandLine } from '../../cli/registry.ts';
import { readGatewayConfig } from '../../config.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const ACME = 'acme-owner-token-0123456789';
const BETA = 'beta-owner-token-0123456789';
const OWNERS = `
    - {id: acme-owner, token: ${ACME}, org_id: acme, workspace_id: search, role: owner}
    - {id: beta-owner, token: ${BETA}, org_id: beta, workspace_id: search, role: owner}`;
const YAML = `auth:\n  enabled: true\n  keys:${OWNERS}`;
const TAKEN = { status: 409, body: { error: 'gateway key token already exists' } };

type CallResult = { readonly status: number; readonly body: unknown };
async function call(of: TestGateway, method: string, path: string, token: string, body?: object): Promise<CallResult> {
  const response = await fetch(`${of.url}/api/gateway-keys${path}`, {
    method,
    headers: { 'x-svc-gateway-key': token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}
const make = async (of: TestGateway, owner: string, body: object): Promise<GatewayKeyWithToken> =>
  gatewayKeyWithToken.parse((await call(of, 'POST', '', owner, body)).body);
const works = async (of: TestGateway, token: string) =>
  (await fetch(`${of.url}/openai/v1/models`, { headers: { 'x-svc-gateway-key': token, authorization: 'Bearer sk-x' } })).status;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({}, YAML);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

describe('a token that was replaced by a rotation', () => {
  test('cannot be registered by any tenant, nor restored by a rotation', async () => {
    const key = await make(gateway, ACME, { role: 'owner' });
    const first = key.token;
    const second = gatewayKeyWithToken.parse((await call(gateway, 'POST', `/${key.id}/rotate`, ACME)).body).token;
    expect(await call(gateway, 'POST', '', BETA, { token: first })).toEqual(TAKEN);
    expect(await call(gateway, 'POST', '', ACME, { token: first })).toEqual(TAKEN);
    expect(await call(gateway, 'POST', `/${key.id}/rotate`, ACME, { token: first })).toEqual(TAKEN);
    expect(await call(gateway, 'POST', `/${key.id}/rotate`, ACME, { token: second })).toEqual(TAKEN);
    const other = await make(gateway, BETA, {});
    expect(await call(gateway, 'POST', `/${other.id}/rotate`, BETA, { token: first })).toEqual(TAKEN);
    expect([await works(gateway, first), await works(gateway, second)]).toEqual([401, 200]);
  });

  test('is case-sensitive, and blanks make it invalid', async () => {
    const token = 'Chosen-Token-0123456789-abc';
    const key = await make(gateway, ACME, { token });
    await call(gateway, 'POST', `/${key.id}/rotate`, ACME);
    expect((await call(gateway, 'POST', '', BETA, { token: token.toLowerCase() })).status).toBe(201);
    for (const padded of [`${token} `, ` ${token}`, `${token}\n`, `${token}\t`])
      expect((await call(gateway, 'POST', '', BETA, { token: padded })).status).toBe(400);
    // Blanks at the ends of a header value are ignored.
    expect(await works(gateway, `${token} `)).toBe(401);
  });
});

test('two gateways on the same keys that get the same token at once create one key', async () => {
  await using second = await startTestGateway({ SVC_STORAGE_PATH: join(gateway.folder, 'second.db') }, YAML);
  const token = 'wanted-by-everyone-0123456789';
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, i) => call(i % 2 === 0 ? gateway : second, 'POST', '', i % 3 === 0 ? ACME : BETA, { token })),
  );
  const counts = Object.groupBy(responses, ({ status }) => status);
  expect([counts[201]?.length, counts[409]?.length]).toEqual([1, 59]);
});

describe('a token of the YAML file', () => {
  test('stays reserved after its removal, also for another tenant', async () => {
    await using folder = await temporaryFolder('file-tokens');
    const at = { SVC_STORAGE_PATH: join(folder.path, 'traces.db') };
    const gone = 'token-of-the-file-0123456789';
    const before = `${YAML}\n    - {id: partner, token: ${gone}, org_id: acme, workspace_id: search}`;
    await (await startTestGateway(at, before))[Symbol.asyncDispose]();
    await using after = await startTestGateway(at, YAML);
    expect(await call(after, 'POST', '', BETA, { token: gone })).toEqual(TAKEN);
    // The key gets its token back when it returns to the file.
    await after[Symbol.asyncDispose]();
    await using again = await startTestGateway(at, before);
    expect(await works(again, gone)).toBe(200);
    expect(again.log.join('')).not.toContain('under auth.keys have a token');
  });

  test('is accepted although a key of the database had it, and the log names the key', async () => {
    await using folder = await temporaryFolder('file-tokens');
    const at = { SVC_STORAGE_PATH: join(folder.path, 'traces.db') };
    const before = await startTestGateway(at, YAML);
    const { id, token } = await make(before, ACME, {});
    await call(before, 'POST', `/${id}/rotate`, ACME);
    await before[Symbol.asyncDispose]();
    await using after = await startTestGateway(at, `${YAML}\n    - {id: late, token: ${token}, org_id: beta}`);
    expect(await works(after, token)).toBe(200);
    const line = after.log
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .find(({ key_ids: ids }) => ids !== undefined);
    expect(line).toMatchObject({ level: 'warn', key_ids: ['late'], msg: expect.stringContaining('has or had') });
    expect(after.log.join('')).not.toContain(token);
  });
});

describe('ids', () => {
  const RESERVED = ['system', 'operator', 'System', 'OPERATOR'];
  const auditOf = (target: string) => {
    using database = new DatabaseSync(join(gateway.folder, 'gateway-keys.db'), { readOnly: true, timeout: 2_000 });
    return database.prepare('SELECT actor, outcome, reason FROM audit_events WHERE target = ?').all(target);
  };

  test.each(RESERVED)('%s cannot be created over REST, and the attempt is audited', async (id) => {
    const { status, body } = await call(gateway, 'POST', '', ACME, { id });
    expect([status, body]).toEqual([400, { error: expect.stringContaining('id: must not be system or operator') }]);
    const rows = await waitUntil(async () => auditOf(id).length > 0 && auditOf(id), { what: 'the audit event' });
    expect(rows).toEqual([{ actor: 'acme-owner', outcome: 'deny', reason: 'invalid_body' }]);
  });

  test.each(RESERVED)('%s is rejected in the YAML file', (id) => {
    const read = () => readGatewayConfig({ path: 'v.yaml', text: `auth: {keys: [{id: ${id}, token: ${ACME}}]}` }, {});
    expect(messageOf(thrownBy(read))).toContain('auth.keys.0.id: must not be system or operator');
  });

  test('system cannot be created on the command line', async () => {
    const made = runCaptured(gatewayCommandLine, ['keys', 'create', '--id', 'system'], {
      env: { SVC_STORAGE_PATH: join(gateway.folder, 'traces.db') },
    });
    await expect(made).rejects.toMatchObject({ code: 'invalid_body', message: expect.stringContaining('system or operator') });
  });

  test('of an earlier version still work, and the log asks to revoke those that are reserved now', async () => {
    await using folder = await temporaryFolder('reserved-id');
    const at = { SVC_STORAGE_PATH: join(folder.path, 'traces.db') };
    const before = await startTestGateway(at, YAML);
    const { token } = await make(before, ACME, { id: 'was-system' });
    await before[Symbol.asyncDispose]();
    {
      using database = new DatabaseSync(join(folder.path, 'gateway-keys.db'));
      database.exec("UPDATE gateway_keys SET id = 'System' WHERE id = 'was-system'");
    }
    await using after = await startTestGateway(at, YAML);
    expect(await works(after, token)).toBe(200);
    const lines = after.log.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', key_ids: ['System'], msg: expect.stringContaining('reserved') }),
    );
    expect((await call(after, 'DELETE', '/System', ACME)).status).toBe(204);
  });

  test('an id that only starts like a reserved one is valid', async () => {
    expect((await call(gateway, 'POST', '', ACME, { id: 'system-1' })).status).toBe(201);
  });

  test('an id never equals a token, whichever of the two came first', async () => {
    const rejected = { status: 400, body: { error: expect.stringContaining('token: must not be the id of a gateway key') } };
    const id = 'an-id-that-is-long-enough-for-a-token';
    expect(await call(gateway, 'POST', '', ACME, { id, token: id })).toEqual(rejected);
    expect((await call(gateway, 'POST', '', ACME, { id })).status).toBe(201);
    expect(await call(gateway, 'POST', '', BETA, { token: id })).toEqual(rejected);
    expect(await call(gateway, 'POST', `/${id}/rotate`, ACME, { token: id })).toEqual(rejected);
    const { token } = await make(gateway, ACME, { token: 'a-token-that-could-be-an-id' });
    expect(await call(gateway, 'POST', '', BETA, { id: token })).toEqual({
      status: 409,
      body: { error: 'gateway key already exists' },
    });
    expect((await call(gateway, 'POST', '', BETA, { id: ACME })).status).toBe(409);
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('was accepted');
}
