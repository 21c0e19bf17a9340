import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { failing, startFakeApiServer, type FakeApiServer } from '../testing/fake-api-server.ts';
import { KubernetesClient } from './kubernetes-client.ts';
import { LeaderElection, type Leadership, type Lease } from './leader-election.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/vitrine/leases/operator';
const TIMES = { leaseMs: 1_000, renewMs: 700, retryMs: 100 };
/** A lease short enough to expire within a test, and long enough to be renewed on a busy machine. */
const RENEWED = { leaseMs: 5_000, renewMs: 4_500, retryMs: 500 };
/** As long as a busy machine needs. */
const LONG = { leaseMs: 120_000, renewMs: 100_000, retryMs: 100 };
/** A request has `retryMs`. */
const GIVES_UP_EARLY = { leaseMs: 60_000, renewMs: 2_000, retryMs: 500 };
const isWrite = ({ method }: IncomingMessage) => method !== 'GET';

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
let errors: string[];

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await startFakeApiServer());
  errors = [];
});
afterEach(() => stack.disposeAsync());

function lead(
  identity: string,
  signal: AbortSignal = new AbortController().signal,
  times = TIMES,
): Promise<Leadership | undefined> {
  const server = stack.use(new KubernetesClient(fake.config, identity));
  const options = {
    namespace: 'vitrine',
    name: 'operator',
    identity,
    onError: (error: unknown) => errors.push(String(error)),
    times,
  };
  return new LeaderElection(server, options).lead(signal);
}

const led = async (identity: string) => (await lead(identity)) as Leadership;
const spec = () => (fake.read(LEASE) as Lease | undefined)?.spec;

/** A killed process, whose Lease stays. */
function leaseOf(holderIdentity: string, leaseTransitions = 3): void {
  fake.put(LEASE, {
    spec: { holderIdentity, leaseTransitions, leaseDurationSeconds: 1, renewTime: '2000-01-01T00:00:00.000000Z' },
  });
}

test('the first process leads, and the second as soon as the first releases the Lease', async () => {
  const first = (await lead('first', undefined, LONG)) as Leadership;
  expect([spec()?.holderIdentity, first.transitions]).toEqual(['first', 0]);
  expect(first.remainingMs()).toBeLessThanOrEqual(LONG.renewMs);
  const waiting = lead('second', undefined, LONG);
  await first[Symbol.asyncDispose]();
  await first.lost;
  const second = stack.use((await waiting) as Leadership);
  expect([spec()?.holderIdentity, second.transitions]).toEqual(['second', 1]);
  expect([first.remainingMs() > 0, second.remainingMs() > 0]).toEqual([false, true]);
});

test('one of many concurrent processes leads', async () => {
  const controller = new AbortController();
  const times = { leaseMs: 60_000, renewMs: 40_000, retryMs: 100 };
  const all = Array.from({ length: 8 }, (_, at) => lead(`process-${at}`, controller.signal, times));
  await waitUntil(() => fake.requests.filter((request) => request === `GET ${LEASE}`).length >= 40, { what: 'forty tries' });
  controller.abort();
  const leaders = (await Promise.all(all)).filter((leadership) => leadership !== undefined);
  expect([leaders.length, spec()?.leaseTransitions]).toEqual([1, 0]);
  await leaders[0]?.[Symbol.asyncDispose]();
});

test('a killed leader is replaced when its record has not changed for the lease duration, regardless of its clock', async () => {
  leaseOf('killed');
  const startedAt = performance.now();
  const next = stack.use(await led('next'));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(TIMES.leaseMs);
  expect(next.transitions).toBe(4);
});

test('a process whose Lease was written without a response leads with its next try', async () => {
  fake.put(LEASE, {
    spec: { holderIdentity: 'first', leaseTransitions: 3, leaseDurationSeconds: 120, renewTime: '2000-01-01T00:00:00.000000Z' },
  });
  const first = stack.use((await lead('first', AbortSignal.timeout(LONG.leaseMs / 2), LONG)) as Leadership);
  expect([first.transitions, spec()?.leaseTransitions]).toEqual([3, 3]);
});

test('a renewing leader keeps its Lease, even when its labels are edited', async () => {
  const first = stack.use((await lead('first', undefined, RENEWED)) as Leadership);
  let isLost = false;
  void first.lost.then(() => (isLost = true));
  const controller = new AbortController();
  const second = lead('second', controller.signal, RENEWED);
  for (let renewals = 0; renewals < 12; renewals += 1) {
    const lease = fake.read(LEASE) as Lease;
    fake.put(LEASE, { ...lease, metadata: { ...lease.metadata, labels: { edited: String(renewals) } } });
    await waitUntil(() => spec()?.renewTime !== lease.spec?.renewTime, { what: 'a renewal' });
  }
  controller.abort();
  expect([isLost, await second, spec()?.holderIdentity]).toEqual([false, undefined, 'first']);
});

describe('leadership is lost', () => {
  test('when the API server takes no renewal, before another process may lead', async () => {
    const first = stack.use((await lead('first', undefined, GIVES_UP_EARLY)) as Leadership);
    fake.fault = failing(503, 'ServiceUnavailable', Infinity, isWrite);
    const startedAt = performance.now();
    await first.lost;
    expect(performance.now() - startedAt).toBeLessThan(GIVES_UP_EARLY.leaseMs);
    expect(first.remainingMs()).toBeLessThanOrEqual(0);
    expect(errors.join()).toMatch(/503/);
  });

  test('when the API server does not respond', async () => {
    const first = stack.use((await lead('first', undefined, GIVES_UP_EARLY)) as Leadership);
    fake.fault = () => true;
    const startedAt = performance.now();
    await first.lost;
    expect(performance.now() - startedAt).toBeLessThan(GIVES_UP_EARLY.leaseMs);
    expect(first.remainingMs()).toBeLessThanOrEqual(0);
  });

  test('when another process holds the Lease', async () => {
    const first = stack.use(await led('first'));
    leaseOf('other');
    await first.lost;
    expect(spec()?.holderIdentity).toBe('other');
  });

  test('when the Lease was deleted', async () => {
    const first = stack.use(await led('first'));
    fake.remove(LEASE);
    await first.lost;
    expect(spec()).toBeUndefined();
  });

  test('and is not released then, because it belongs to another process', async () => {
    const first = await led('first');
    leaseOf('other');
    await first.lost;
    await first[Symbol.asyncDispose]();
    expect(spec()?.holderIdentity).toBe('other');
  });
});

test('one failed renewal does not end it', async () => {
  // Requests time out after `retryMs`, which must be longer than a busy machine takes for one.
  const patient = { leaseMs: 10_000, renewMs: 8_000, retryMs: 500 };
  const first = stack.use((await lead('first', undefined, patient)) as Leadership);
  let isLost = false;
  void first.lost.then(() => (isLost = true));
  fake.fault = failing(500, 'InternalError', 2, isWrite);
  const renewedAt = spec()?.renewTime;
  await waitUntil(() => errors.length >= 2 && spec()?.renewTime !== renewedAt, { what: 'the renewal' });
  expect(isLost).toBe(false);
});

test('a process that ends stops waiting', async () => {
  leaseOf('other');
  const controller = new AbortController();
  const waiting = lead('ends', controller.signal);
  controller.abort();
  expect(await waiting).toBeUndefined();
});
