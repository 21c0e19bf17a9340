import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { gatewayCommandLine } from '../cli/registry.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const PEPPER = `1:${'p'.repeat(32)}`;
const OWNER = 'sgk_owner-0123456789012345678901';
const FILE = `auth: { keys: [{ id: first, token: "${OWNER}", org_id: acme, workspace_id: search, role: owner }] }`;

let database: TestDatabase;
beforeAll(async () => {
  database = await templateDatabase();
});
afterAll(async () => database[Symbol.asyncDispose]());

/** As in a deployment: a user with the rights of a gateway. */
function dsn(of: URL = new URL(database.dsn.reveal())): string {
  of.searchParams.set('options', '-c role=vitrine_gateway');
  return of.href;
}
const storage = () => ({ SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: dsn() });
const auth = { SVC_AUTH_ENABLED: 'true', SVC_AUTH_PEPPERS: PEPPER };

const call = (gateway: TestGateway, path: string, key: string, body?: unknown, method = 'POST') =>
  fetch(gateway.url + path, {
    method: body === undefined && method === 'POST' ? 'GET' : method,
    headers: { 'x-svc-gateway-key': key, authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const chat = (gateway: TestGateway, key: string) =>
  call(gateway, '/openai/v1/chat/completions', key, { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello' }] });

interface Page {
  readonly items: readonly Record<string, unknown>[];
}
const json = async <T>(response: Response | Promise<Response>) => (await (await response).json()) as T;

describe('gateways on one Postgres', () => {
  let one: TestGateway;
  let other: TestGateway;
  beforeAll(async () => {
    one = await startTestGateway({ ...storage(), ...auth }, FILE);
    other = await startTestGateway({ ...storage(), ...auth }, FILE);
  });
  afterAll(async () => {
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  test('a trace of one is listed, shown and summed up by the other', async () => {
    expect((await chat(one, OWNER)).status).toBe(200);
    const list = () => json<Page>(call(other, '/api/traces', OWNER));
    const [trace] = await waitUntil(async () => (await list()).items.length > 0 && (await list()).items, { what: 'the trace' });
    expect(trace).toMatchObject({ provider: 'openai', model: 'gpt-4o-mini', response_status: 200, usage_status: 'reported' });
    const detail = await json<Record<string, unknown>>(call(other, `/api/traces/${String(trace?.['id'])}`, OWNER));
    expect(detail).toMatchObject({ id: trace?.['id'], metadata: { org_id: 'acme', gateway_key_id: 'first' } });
    const summary = await json<Record<string, unknown>>(call(other, '/api/analytics/summary', OWNER));
    expect(summary).toMatchObject({ total_requests: 1, total_tokens: trace?.['total_tokens'], top_model: 'gpt-4o-mini' });
    const health = await other.get('/api/health');
    expect(health).toMatchObject({ status: 'ok', storage_driver: 'postgres' });
    expect(health).not.toHaveProperty('db_size_bytes');
    const { diagnostics } = await json<{ diagnostics: object }>(call(one, '/api/diagnostics/trace-pipeline', OWNER));
    expect(diagnostics).toMatchObject({ store_driver: 'postgres', written_total: 1, total_dropped_total: 0 });
  });

  test('a key of one is accepted by the other within seconds, and rejected once it is revoked', async () => {
    const key = await json<{ id: string; token: string }>(call(one, '/api/gateway-keys', OWNER, { role: 'developer' }));
    const statusOf = async () => (await chat(other, key.token)).status;
    await waitUntil(async () => (await statusOf()) === 200, { what: 'the key' });
    await call(one, `/api/gateway-keys/${key.id}`, OWNER, undefined, 'DELETE');
    await waitUntil(async () => (await statusOf()) === 401, { what: 'the revocation' });
  });

  test('commands use the same store', async () => {
    const run = (...args: string[]) =>
      runCaptured(gatewayCommandLine, args, { env: { ...storage(), ...auth, SVC_AUTH_STORE: 'database' } });
    const report = await run('report', '--format', 'json');
    const { storage: place, summary } = JSON.parse(report.stdout) as { storage: { path: string }; summary: object };
    expect(place).toEqual({ driver: 'postgres', path: expect.stringMatching(/^postgresql:\/\/[^@]+$/) });
    expect(summary).toMatchObject({ total_requests: expect.any(Number), top_model: 'gpt-4o-mini' });
    const doctor = await run('doctor', '--format', 'json');
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; status: string; summary: string }[] };
    expect(checks.find(({ name }) => name === 'storage')).toMatchObject({
      status: 'pass',
      summary: 'the traces can be read and written',
    });
    // The last one may be a rejection, which has no model.
    expect((await run('debug', 'last', '--format', 'json')).stdout).toContain('/openai/v1/chat/completions');
    expect((await run('keys', 'list', '--format', 'json')).stdout).toContain('"items"');
    expect((await run('audit', '--format', 'json')).stdout).toContain('gateway_key.revoke');
    await expect(run('import', '--from', 'x.db')).rejects.toThrow(/storage\.driver to sqlite/);
  });
});

test('with shared counters a request rate applies across two gateways', async () => {
  const limited = { ...storage(), ...auth, SVC_LIMITS_COUNTERS: 'shared' };
  const yaml = `${FILE}\nlimits: { per_key: { requests_per_minute: 6 } }`;
  await using one = await startTestGateway(limited, yaml);
  await using other = await startTestGateway(limited, yaml);
  const statuses: number[] = [];
  for (const gateway of [one, one, one, other, other, other, one, other, one, other]) {
    statuses.push((await chat(gateway, OWNER)).status);
  }
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6);
  expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
  expect(statuses).toContain(429);
});

test('a gateway that starts before its database waits, logs it, and serves once the database is up', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  const starting = startTestGateway({ SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: dsn(new URL(proxy.dsn.reveal())) });
  const first = await Promise.race([
    starting.then(() => 'started'),
    waitUntil(() => false, { what: 'x', timeoutMs: 500 }).catch(() => 'waiting'),
  ]);
  expect(first).toBe('waiting');
  await proxy.open();
  await using gateway = await starting;
  expect(await gateway.get('/')).toMatchObject({ status: 'ok' });
  expect(gateway.log.some((line) => line.includes('"msg":"waiting for the database"') && line.includes('next_step'))).toBe(true);
});

test('writes recover when a trace can be written, not when other tables can; doctor agrees', async () => {
  await using broken = await templateDatabase();
  await using owner = new PostgresPool({ dsn: broken.dsn, applicationName: 'test', maxConnections: 1 });
  // Sequences advance even when a transaction is rolled back, so it counts the attempts.
  await owner.execute(`CREATE SEQUENCE tries; GRANT ALL ON SEQUENCE tries TO PUBLIC;
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('public.tries'); RAISE 'no bodies'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON trace_bodies FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const tries = async () => (await owner.query<{ n: number }>('SELECT last_value AS n FROM tries'))[0]?.n ?? 0;
  const variables = { SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: dsn(new URL(broken.dsn.reveal())) };
  await using gateway = await startTestGateway(variables);
  const logged = (message: string) => gateway.log.filter((line) => line.includes(`"msg":"${message}"`)).length;
  const reasons = async () => ((await gateway.get('/api/health')) as { reasons?: string[] }).reasons;
  const doctor = async () => (await runCaptured(gatewayCommandLine, ['doctor'], { env: { ...variables } })).stdout;
  await chat(gateway, '');
  await waitUntil(() => logged('traces dropped') === 1, { what: 'the drop', timeoutMs: 20_000 });
  const before = await tries();
  await waitUntil(async () => (await tries()) > before, { what: 'a test write', timeoutMs: 20_000 });
  expect([await reasons(), logged('trace writes recovered')]).toEqual([['writes_failing'], 0]);
  expect(await doctor()).toMatch(/fail {2}storage: the traces cannot be written[^]*no bodies/);
  await owner.execute('DROP TRIGGER refuse ON trace_bodies');
  await waitUntil(() => logged('trace writes recovered') === 1, { what: 'the recovery', timeoutMs: 20_000 });
  expect(await reasons()).toBeUndefined();
  expect(await doctor()).toMatch(/pass {2}storage: the traces can be read and written/);
  expect(await gateway.get('/api/traces')).toMatchObject({ items: [] });
});

test('a database outage fails no request, and traces are written again afterwards', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await using gateway = await startTestGateway({
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: dsn(new URL(proxy.dsn.reveal())),
  });
  await proxy.close();
  expect((await chat(gateway, '')).status).toBe(200);
  await waitUntil(() => gateway.log.some((line) => line.includes('"msg":"traces dropped"') && line.includes('storage.dsn')), {
    what: 'the drop',
    timeoutMs: 20_000,
  });
  const { status } = await fetch(`${gateway.url}/api/traces`);
  expect(status).toBe(503);
  await proxy.open();
  await chat(gateway, '');
  await waitUntil(async () => ((await gateway.get('/api/traces')) as Partial<Page>).items?.length, { what: 'a trace' });
});
