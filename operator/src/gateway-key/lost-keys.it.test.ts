import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createToken } from '@vitrine/credentials/token';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomBytes } from 'node:crypto';
import { readConditions, type Condition } from '../runtime/conditions.ts';
import { startFakeApiServer, type FakeApiServer } from '../testing/fake-api-server.ts';
import { startTestOperator } from '../testing/start-test-operator.ts';
import { FINALIZER, type GatewayKeyObject } from './gateway-key-resource.ts';
import { gatewayKeySpec } from './gateway-key-spec.ts';
import { keyIdOf } from './read-spec.ts';
import { rotationAnnotations, secretData, secretMetadata } from './key-secret.ts';

const TIMEOUT_MS = 120_000;
const CLIENTS = { openai_base_url: undefined, anthropic_base_url: undefined, key_header: 'X-Svc-Gateway-Key' };

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
let database: TestDatabase;
let pool: PostgresPool;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  database = stack.use(await templateDatabase());
  pool = stack.use(new PostgresPool({ dsn: database.dsn, applicationName: 'a person in psql' }));
  fake = stack.use(await startFakeApiServer());
  fake.put('/api/v1/namespaces/team-a', { metadata: { labels: { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'w' } } });
});
afterEach(() => stack.disposeAsync());

const keyPath = (name: string) => `/apis/vitrine.dev/v1alpha1/namespaces/team-a/gatewaykeys/${name}`;
const secretPath = (name: string) => `/api/v1/namespaces/team-a/secrets/${name}-gateway-key`;
/** A reconciled GatewayKey with its Secret, but without a row. */
function putReadyKey(name: string): void {
  const condition = { observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z', message: '' };
  const conditions = [{ ...condition, type: 'Ready', status: 'True', reason: 'Registered' }];
  const content = { metadata: { finalizers: [FINALIZER] }, spec: {}, status: { conditions } };
  const object = fake.put(keyPath(name), content) as GatewayKeyObject;
  const spec = gatewayKeySpec.parse({});
  const { annotations, ...metadata } = secretMetadata(object, spec);
  const secret = {
    metadata: { ...metadata, annotations: { ...annotations, ...rotationAnnotations(object, spec, Date.now()) } },
    data: secretData(createToken('sgk_', randomBytes), keyIdOf(object), CLIENTS),
  };
  fake.put(secretPath(name), secret);
}
function ready(name: string): Condition | undefined {
  return readConditions(fake.read(keyPath(name))?.status as object | undefined).find(({ type }) => type === 'Ready');
}
const rows = () =>
  pool.query<{ id: string; created_at: number; owner_uid: string }>(
    'SELECT id, created_at, owner_uid FROM gateway_keys WHERE revoked_at IS NULL',
  );
function putReadyKeys(count: number): readonly string[] {
  const names = Array.from({ length: count }, (_, n) => `key-${n}`);
  for (const name of names) putReadyKey(name);
  return names;
}
const allReady = (names: readonly string[]) =>
  waitUntil(() => names.every((name) => ready(name)?.reason === 'Registered' && ready(name)?.message !== ''), {
    what: 'readiness of all',
    timeoutMs: TIMEOUT_MS,
  });
/** Calls `onWrite` before each write of a status. */
function beforeStatus(onWrite: (name: string) => void): void {
  fake.fault = ({ method, url = '' }) => {
    const [, name] = /\/gatewaykeys\/([^/]+)\/status$/.exec(url) ?? [];
    if (method === 'PATCH' && name !== undefined) onWrite(name);
    return false;
  };
}

test('all keys of a database without rows are registered again with the tokens of their Secrets, page by page', async () => {
  const names = putReadyKeys(600);
  const secrets = names.map((name) => fake.read(secretPath(name)));
  await using operator = await startTestOperator(fake, database.dsn);
  await waitUntil(async () => (await rows()).length === names.length, { what: 'the rows', timeoutMs: TIMEOUT_MS });
  const uids = names.map((name) => fake.read(keyPath(name))?.metadata?.uid);
  expect(new Set((await rows()).map(({ owner_uid }) => owner_uid))).toEqual(new Set(uids));
  const sweeps = operator.log.filter((line) => line.includes('lost keys registered again'));
  const registered = sweeps.map((line) => (JSON.parse(line) as { readonly registered: number }).registered);
  // Workers had already begun to reconcile the others.
  expect(registered.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(names.length - 20);
  await waitUntil(() => names.every((name) => ready(name)?.status === 'True'), { what: 'readiness', timeoutMs: TIMEOUT_MS });
  expect(names.map((name) => fake.read(secretPath(name)))).toEqual(secrets);
}, 300_000);

test('a key with a missing row is not ready until it is registered', async () => {
  const names = putReadyKeys(40);
  const firstWrites = new Map<string, number>();
  beforeStatus((name) => firstWrites.has(name) || firstWrites.set(name, Date.now()));
  await using _operator = await startTestOperator(fake, database.dsn);
  await waitUntil(async () => (await rows()).length === names.length, { what: 'the rows', timeoutMs: TIMEOUT_MS });
  await allReady(names);
  const createdAt = new Map((await rows()).map(({ owner_uid, created_at }) => [owner_uid, created_at]));
  // A status that was written for the first time after registration would say that the key is ready.
  const early = names.filter((name) => {
    const uid = fake.read(keyPath(name))?.metadata?.uid ?? '';
    return (createdAt.get(uid) ?? 0) < (firstWrites.get(name) ?? Infinity);
  });
  expect(early).toEqual([]);
}, 300_000);

test('a key deleted while keys are registered again has no row afterwards', async () => {
  const names = putReadyKeys(40);
  let isDeleted = false;
  beforeStatus(() => {
    if (!isDeleted) fake.delete(keyPath('key-39'));
    isDeleted = true;
  });
  await using _operator = await startTestOperator(fake, database.dsn);
  await allReady(names.slice(0, -1));
  await waitUntil(() => fake.read(keyPath('key-39')) === undefined, { what: 'the deletion', timeoutMs: TIMEOUT_MS });
  expect((await rows()).length).toBe(39);
}, 300_000);
