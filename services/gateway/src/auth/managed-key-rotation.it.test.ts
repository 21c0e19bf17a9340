import { expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { readPepper } from '@vitrine/credentials/pepper';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { TokenOfKey } from '@vitrine/gateway-keys/managed-key';
import { PostgresManagedKeys } from '@vitrine/gateway-keys/postgres/postgres-managed-keys';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startTestGateway } from '../testing/start-test-gateway.ts';

const PEPPER = `1:${'p'.repeat(40)}`;
const KEY = { id: 'gk_managed', owner_uid: 'uid' };
const FIELDS = {
  org_id: 'acme',
  workspace_id: 'search',
  name: 'ci',
  description: undefined,
  role: 'admin',
  permissions: [],
  plan: undefined,
  managed_resource: 'GatewayKey team-a/ci',
};
const TOKENS = ['first', 'second'].map((name) => `sgk_${name}-0123456789-0123456789`) as [string, string];

test('no request of a key is refused while the operator rotates its token, and REST cannot change it', async () => {
  await using database = await templateDatabase();
  const role = (name: string) => {
    const url = new URL(database.dsn.reveal());
    url.searchParams.set('options', `-c role=${name}`);
    return url.href;
  };
  await using pool = new PostgresPool({ dsn: new Secret(role('vitrine_operator')), applicationName: 'operator' });
  const rows = new PostgresManagedKeys(pool);
  const hashes = new TokenHashes([readPepper(PEPPER)].filter((pepper) => pepper !== undefined));
  const tokenOf = (token: string) => hashes.all(token) as unknown as TokenOfKey;
  await rows.register(KEY, FIELDS, tokenOf(TOKENS[0]));
  await using gateway = await startTestGateway({
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: role('vitrine_gateway'),
    SVC_AUTH_ENABLED: 'true',
    SVC_AUTH_PEPPERS: PEPPER,
  });
  const call = async (token: string, method = 'GET', path = '/api/gateway-keys') => {
    const response = await fetch(gateway.url + path, { method, headers: { 'x-svc-gateway-key': token } });
    await response.text();
    return response.status;
  };
  /** The currently published token, sent without a pause by clients that read it each time, or only once. */
  let published = TOKENS[0];
  const over = new AbortController();
  const statuses = new Set<number>();
  let requests = 0;
  const client = async (token: () => string) => {
    for (; !over.signal.aborted; requests += 1) statuses.add(await call(token()));
  };
  const clients = [client(() => published), client(() => TOKENS[0])];
  const enough = (count: number) => waitUntil(() => requests > count, { what: `${count} requests` });
  await enough(20);
  await rows.stageToken(KEY, tokenOf(TOKENS[1]));
  await waitUntil(async () => (await call(TOKENS[1])) === 200, { what: 'the next token', timeoutMs: 5_000 });
  published = TOKENS[1];
  await enough(requests + 20);
  await rows.promoteToken(KEY, 60_000);
  await enough(requests + 100);
  over.abort();
  await Promise.all(clients);
  expect([...statuses]).toEqual([200]);

  expect(await call(TOKENS[1], 'DELETE', `/api/gateway-keys/${KEY.id}`)).toBe(409);
  expect(await call(TOKENS[1], 'POST', `/api/gateway-keys/${KEY.id}/rotate`)).toBe(409);
  await pool.execute("UPDATE gateway_keys SET previous_until = now(), revision = revision + 1, changed_by = 'x' WHERE id = $1", [
    KEY.id,
  ]);
  await rows.update(KEY, FIELDS);
  await waitUntil(async () => (await call(TOKENS[0])) === 401, { what: 'the end of the first token', timeoutMs: 5_000 });
  await rows.revoke(KEY);
  await waitUntil(async () => (await call(TOKENS[1])) === 401, { what: 'the revocation', timeoutMs: 5_000 });
});
