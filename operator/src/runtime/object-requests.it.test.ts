import type { KubernetesObject } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { failing, startFakeApiServer, type FakeApiServer } from '../testing/fake-api-server.ts';
import { hasStatus, KubernetesClient } from './kubernetes-client.ts';
import { EventRecorder } from './event-recorder.ts';
import { applyObject, mergeStatus, readObject } from './object-requests.ts';

const THING = '/apis/example.com/v1/namespaces/a/things/one';
const EVENTS = '/apis/events.k8s.io/v1/namespaces/a/events';

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
let server: KubernetesClient;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await startFakeApiServer());
  server = stack.use(new KubernetesClient(fake.config, 'test'));
});
afterEach(() => stack.disposeAsync());

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('only a 404 means that the object does not exist', async () => {
  expect(await readObject(server, THING)).toBeUndefined();
  for (const [status, reason] of [
    [403, 'Forbidden'],
    [500, 'InternalError'],
  ] as const) {
    fake.fault = failing(status, reason, 1, () => true);
    expect(hasStatus(await failureOf(readObject(server, THING)), status, reason)).toBe(true);
  }
});

test('a status is merged into the version that it is based on, without other changes', async () => {
  const { metadata } = fake.put(THING, { spec: { size: 1 }, status: { kept: true } });
  const first = await mergeStatus<KubernetesObject>(server, THING, { ready: true }, metadata?.resourceVersion ?? '');
  expect(fake.read(THING)).toMatchObject({ spec: { size: 1 }, status: { kept: true, ready: true }, metadata: { generation: 1 } });
  const stale = mergeStatus(server, THING, { ready: false }, metadata?.resourceVersion ?? '');
  expect(hasStatus(await failureOf(stale), 409, 'Conflict')).toBe(true);
  await mergeStatus(server, THING, { ready: false }, first.metadata?.resourceVersion ?? '');
  expect(fake.read(THING)?.status).toEqual({ kept: true, ready: false });
});

test('an applied object is created if missing', async () => {
  const { signal } = new AbortController();
  await applyObject(
    server,
    THING,
    { kind: 'Thing', metadata: { name: 'one', namespace: 'a' }, spec: { size: 1 } },
    'test',
    signal,
  );
  await applyObject(server, THING, { spec: { size: 2 } }, 'test', signal);
  expect(fake.read(THING)).toMatchObject({ kind: 'Thing', spec: { size: 2 } });
});

test('an error of the API server quotes no data of a Secret, and a missing response is an error with its request', async () => {
  const token = 'sgk_a-token-that-a-webhook-quotes';
  const data = { token: btoa(token) };
  fake.fault = (request, response) => {
    request.resume();
    response.writeHead(400).end(JSON.stringify({ message: `denied: ${token} ${btoa(token)}`, reason: 'BadRequest' }));
    return true;
  };
  const refused = server.request({ method: 'POST', path: '/api/v1/namespaces/a/secrets', body: { data } });
  expect(String(await failureOf(refused))).toMatch(/secrets: 400 BadRequest: denied: \*\*\* \*\*\*$/);
  fake.fault = () => true;
  const silent = await failureOf(server.request({ method: 'GET', path: THING, timeoutMs: 50 }));
  expect([hasStatus(silent, 0, 'NoResponse'), String(silent)]).toEqual([
    true,
    expect.stringContaining(`GET ${THING}: no response`),
  ]);
});

test('an event names its object, is bounded, and never causes a failure', async () => {
  const errors: unknown[] = [];
  const create = () =>
    new EventRecorder(server, { controller: 'vitrine.dev/operator', instance: 'pod' }, (error) => errors.push(error));
  const object = { kind: 'Thing', ...fake.put(THING) };
  const event = { type: 'Warning', reason: 'SecretReissued', action: 'Reissue', note: 'x'.repeat(2_000) } as const;
  create().record(object, event);
  await waitUntil(() => fake.paths(EVENTS).length === 1, { what: 'the event' });
  const stored = fake.read(fake.paths(EVENTS)[0] ?? '') as unknown as { note: string };
  expect(stored).toMatchObject({
    reason: 'SecretReissued',
    regarding: { kind: 'Thing', name: 'one', uid: object.metadata?.uid },
  });
  expect(stored.note).toHaveLength(1_024);
  fake.fault = () => true;
  const recorder = create();
  for (let i = 0; i < 70; i += 1) recorder.record(object, event);
  expect(recorder.dropped).toBe(6);
  fake.fault = undefined;
  await fake[Symbol.asyncDispose]();
  await waitUntil(() => errors.length === 64, { what: 'the failures' });
});

test('credentials are read again when the API server rejects them', async () => {
  const { config } = fake;
  const own = stack.use(new KubernetesClient(config, 'test'));
  const tokens: unknown[] = [];
  const request = async (status: number) => {
    fake.fault = failing(status, 'Unauthorized', 1, ({ headers }) => tokens.push(headers.authorization) > 0);
    await failureOf(readObject(own, THING));
  };
  await request(404);
  Object.assign(config.getCurrentUser() ?? {}, { token: 'another-token' });
  for (const status of [401, 404]) await request(status);
  expect(tokens).toEqual(['Bearer test-token', 'Bearer test-token', 'Bearer another-token']);
});
