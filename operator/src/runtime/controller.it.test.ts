import type { KubernetesObject } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startFakeApiServer, type FakeApiServer } from '../testing/fake-api-server.ts';
import { ApiError, KubernetesClient } from './kubernetes-client.ts';
import { Controller, type ControllerOptions } from './controller.ts';

const THINGS = '/apis/example.com/v1/things';
const at = (name: string) => `/apis/example.com/v1/namespaces/a/things/${name}`;

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
let outcomes: string[];
let failed: string[];

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await startFakeApiServer());
  outcomes = [];
  failed = [];
});
afterEach(() => stack.disposeAsync());

function createController(reconcile: ControllerOptions['reconcile'], options: Partial<ControllerOptions> = {}): Controller {
  const observer = {
    reconciled: (_: string, outcome: string) => void outcomes.push(outcome),
    reconcileFailed: (_: string, key: string, error: unknown) => void failed.push(`${key} ${String(error)}`),
    repeatFailed: (_: string, error: unknown, consecutive: number) => void failed.push(`${consecutive} ${String(error)}`),
    watchFailed: () => {},
  };
  return stack.use(new Controller({ name: 'thing', reconcile, observer, random: () => 0, ...options }));
}

function startWatching(controller: Controller) {
  const watch = controller.watch<KubernetesObject>(stack.use(new KubernetesClient(fake.config, 'test')), 'things', {
    path: THINGS,
    onChange: (key) => controller.add(key),
    isChange: (before, after) => before.metadata?.generation !== after.metadata?.generation,
  });
  controller.start();
  return watch;
}

const outcomesAre = (...expected: string[]) =>
  waitUntil(() => outcomes.join() === expected.join(), { what: `outcomes ${expected.join()}` });

test('regular work starts after all objects are listed, continues after failures, and ends with the controller', async () => {
  const controller = createController(async () => ({}));
  let runs = 0;
  controller.repeat(1, async () => {
    runs += 1;
    if (runs % 2 === 0) throw new Error(`run ${runs}`);
  });
  startWatching(controller);
  await waitUntil(() => runs >= 5, { what: 'five runs' });
  await controller[Symbol.asyncDispose]();
  const after = runs;
  await controller[Symbol.asyncDispose]();
  expect([runs, failed.slice(0, 2)]).toEqual([after, ['1 Error: run 2', '1 Error: run 4']]);
});

test('no key is reconciled before all objects are listed, and then every key is, each by one worker at a time', async () => {
  for (let i = 0; i < 600; i += 1) fake.put(at(`n${i}`));
  const seen: number[] = [];
  let running = 0;
  let most = 0;
  const controller = createController(async () => {
    seen.push(watch.list().length);
    most = Math.max(most, (running += 1));
    await new Promise(setImmediate);
    running -= 1;
    return {};
  });
  const watch = startWatching(controller);
  await waitUntil(() => outcomes.length === 600, { what: 'a pass of each' });
  expect([new Set(seen), most, controller.figures.isSynced]).toEqual([new Set([600]), 4, true]);
});

test('a change without a new generation causes no pass', async () => {
  const keys: string[] = [];
  const controller = createController(async (key) => (keys.push(key), {}));
  const watch = startWatching(controller);
  await waitUntil(() => fake.watches === 1, { what: 'the watch' });
  fake.put(at('one'), { metadata: { generation: 1 } });
  await outcomesAre('success');
  fake.put(at('one'), { metadata: { generation: 1 }, kind: 'StatusWritten' });
  await waitUntil(() => watch.get('a/one')?.kind === 'StatusWritten', { what: 'the write' });
  fake.put(at('one'), { metadata: { generation: 2 } });
  await outcomesAre('success', 'success');
  expect(keys).toEqual(['a/one', 'a/one']);
});

test('a pass may request the next one', async () => {
  let passes = 0;
  const controller = createController(async () => ((passes += 1) === 1 ? { requeueAfterMs: 1 } : {}));
  controller.start();
  controller.add('a/one');
  await outcomesAre('requeue_after', 'success');
});

test('a pass that fails is reported and repeated; a conflict is repeated silently', async () => {
  const errors = [new Error('away'), new ApiError('conflict', 409, 'Conflict'), new ApiError('taken', 409, 'AlreadyExists')];
  const controller = createController(async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return {};
  });
  controller.start();
  controller.add('a/one');
  await outcomesAre('error', 'requeue', 'error', 'success');
  expect(failed).toEqual(['a/one Error: away', 'a/one Error: taken']);
  expect(controller.figures.queue.retries).toBe(3);
});

test('disposal waits for the pass in progress, abandoning ends it', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const controller = createController(async (_, signal) => {
    begin();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return {};
  });
  controller.start();
  controller.add('a/one');
  await begun;
  const disposed = controller[Symbol.asyncDispose]();
  expect(controller.figures.activeWorkers).toBe(1);
  controller.abandon();
  await disposed;
  expect(outcomes).toEqual(['success']);
});
