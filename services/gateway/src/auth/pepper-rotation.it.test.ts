import { expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { request } from 'node:http';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const OWNER = 'owner-token-0123456789-0123456789';
const YAML = `auth: {keys: [{id: owner, token: ${OWNER}, role: owner}]}`;
const OLD = `1:${'p'.repeat(40)}`;
const NEW = `2:${'q'.repeat(40)}`;

/** The status of a request over a connection of its own. */
function statusOf(url: string, token: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { 'x-svc-gateway-key': token, authorization: 'Bearer sk-test-0123456789' };
  const sent = request(`${url}/openai/v1/models`, { headers, agent: false }, (response) => {
    response.resume();
    response.once('end', () => resolve(response.statusCode ?? 0));
  });
  sent.once('error', reject).end();
  return promise;
}

async function change(gateway: TestGateway, path: string, body?: object) {
  const headers = { 'x-svc-gateway-key': OWNER, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${gateway.url}/api/gateway-keys${path}`, init);
  const { id = '', token = '', error } = (await response.json()) as { id?: string; token?: string; error?: string };
  return { status: response.status, id, token, error };
}

test('a pepper is rotated below two gateways under load in two steps, and no request fails', async () => {
  await using database = await templateDatabase();
  const dsn = new URL(database.dsn.reveal());
  dsn.searchParams.set('options', '-c role=vitrine_gateway');
  await using pool = new PostgresPool({ dsn: new Secret(dsn.href), applicationName: 'test' });
  const start = (peppers: string) =>
    startTestGateway(
      {
        SVC_STORAGE_DRIVER: 'postgres',
        SVC_STORAGE_DSN: dsn.href,
        SVC_AUTH_ENABLED: 'true',
        SVC_AUTH_PEPPERS: peppers,
      },
      YAML,
    );
  const hashesOf = async (version: number) => {
    const text = 'SELECT count(*) AS n FROM gateway_keys WHERE revoked_at IS NULL AND pepper_version = $1';
    return (await pool.query<{ n: number }>(text, [version]))[0]?.n ?? 0;
  };
  let fleet: readonly TestGateway[] = await Promise.all([start(OLD), start(OLD)]);
  const inFlight = new Map<TestGateway, number>();
  /** As behind a Service: a terminating gateway gets no new connections before it stops. */
  const replaceAll = async (peppers: string) => {
    for (const leaving of fleet) {
      fleet = [...fleet.filter((one) => one !== leaving), await start(peppers)];
      await waitUntil(() => inFlight.get(leaving) === 0, { what: 'the requests of the gateway that leaves' });
      await leaving[Symbol.asyncDispose]();
    }
  };
  const made = async () => {
    const created = await change(fleet[0] as TestGateway, '', { role: 'developer' });
    expect(created.status).toBe(201);
    // Others are notified of a key within a second.
    for (const { url } of fleet)
      await waitUntil(async () => (await statusOf(url, created.token)) === 200, { what: 'the key', timeoutMs: 35_000 });
    return created;
  };
  const first = await made();
  const unused = await made();
  const tokens = [first.token];
  const over = new AbortController();
  const failures: (number | string)[] = [];
  let requests = 0;
  const client = async () => {
    for (; !over.signal.aborted; requests += 1) {
      const gateway = fleet[requests % fleet.length] as TestGateway;
      const token = tokens[requests % tokens.length] ?? '';
      inFlight.set(gateway, (inFlight.get(gateway) ?? 0) + 1);
      const status = await statusOf(gateway.url, token).catch((error: unknown) => String(error));
      inFlight.set(gateway, (inFlight.get(gateway) ?? 0) - 1);
      if (status !== 200) failures.push(status);
    }
  };
  const clients = [client(), client()];
  const enough = async (count: number) => {
    const target = requests + count;
    await waitUntil(() => requests > target, { what: `${count} requests`, timeoutMs: 60_000 });
  };

  await replaceAll(`${OLD},${NEW}`);
  tokens.push((await made()).token);
  await enough(100);
  expect([await hashesOf(1), await hashesOf(2)]).toEqual([3, 0]);
  await replaceAll(`${NEW},${OLD}`);
  tokens.push((await made()).token);
  await waitUntil(async () => (await hashesOf(2)) === 3, { what: 'the used tokens to move', timeoutMs: 60_000 });
  await enough(100);
  // Unused tokens do not move and still need the old pepper.
  expect(await hashesOf(1)).toBe(1);
  await change(fleet[0] as TestGateway, `/${unused.id}/rotate`);
  expect(await hashesOf(1)).toBe(0);
  await replaceAll(NEW);
  await enough(100);
  over.abort();
  await Promise.all(clients);
  expect(failures).toEqual([]);

  // Tokens that had moved, and those created since the new pepper was accepted, stay reserved without the old one.
  const again = await Promise.all(tokens.map((token) => change(fleet[0] as TestGateway, '', { token })));
  expect(again.map(({ status }) => status)).toEqual(tokens.map(() => 409));
  expect(await statusOf((fleet[0] as TestGateway).url, unused.token)).toBe(401);
  await Promise.all(fleet.map((gateway) => gateway[Symbol.asyncDispose]()));
});
