import type { KubernetesObject } from '@kubernetes/client-node';
import type { IncomingMessage } from 'node:http';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { failing, startFakeApiServer, type FakeApiServer } from '../testing/fake-api-server.ts';
import { KubernetesClient } from './kubernetes-client.ts';
import { ListWatch, type ListWatchOptions } from './list-watch.ts';

const THINGS = '/apis/example.com/v1/things';
const at = (name: string, namespace = 'a') => `/apis/example.com/v1/namespaces/${namespace}/things/${name}`;
const isList = ({ method, url = '' }: IncomingMessage) => method === 'GET' && !url.includes('watch=');

let stack: AsyncDisposableStack;
let fake: FakeApiServer;
let changed: string[];
let errors: string[];

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await startFakeApiServer());
  changed = [];
  errors = [];
});
afterEach(() => stack.disposeAsync());

function createListWatch(options: Partial<ListWatchOptions> = {}): ListWatch<KubernetesObject> {
  const server = stack.use(new KubernetesClient(fake.config, 'test'));
  const onRestart = (error: unknown) => errors.push(String(error));
  return stack.use(
    new ListWatch<KubernetesObject>(server, {
      path: THINGS,
      onChange: (key) => changed.push(key),
      onRestart,
      random: () => 0,
      ...options,
    }),
  );
}

const keysOf = (watch: ListWatch<KubernetesObject>) =>
  watch
    .list()
    .map(({ metadata }) => metadata?.name ?? '')
    .toSorted((left, right) => (left < right ? -1 : 1));
const sees = (watch: ListWatch<KubernetesObject>, ...names: string[]) =>
  waitUntil(() => keysOf(watch).join() === names.join(), { what: `objects ${names.join()}` });
const watched = (times = 1) => waitUntil(() => fake.watches === times, { what: 'the watch' });

test('existing objects are listed in pages, and additions, changes and deletions are reported', async () => {
  for (let i = 0; i < 1_201; i += 1) fake.put(at(`n${i}`));
  const watch = createListWatch();
  await watch.start();
  expect([watch.figures.objects, changed.length]).toEqual([1_201, 1_201]);
  expect(fake.requests.filter((request) => request === `GET ${THINGS}`)).toHaveLength(3);
  await watched();
  changed.length = 0;
  fake.put(at('new', 'b'));
  fake.put(at('n7'), { kind: 'Changed' });
  fake.remove(at('n8'));
  await waitUntil(() => changed.length === 3, { what: 'three changes' });
  expect(changed).toEqual(['b/new', 'a/n7', 'a/n8']);
  expect([watch.get('a/n7')?.kind, watch.get('a/n8')]).toEqual(['Changed', undefined]);
});

describe('a watch that ends', () => {
  test.each([
    ['with its connection', () => fake.cutWatches()],
    ['in the middle of a line', () => (fake.send('{"type":"ADD'), fake.cutWatches())],
    ['because a line is no JSON', () => fake.send('}')],
    ['because an event is of an unknown type', () => fake.send({ type: 'SOMETHING', object: {} })],
    ['with an error of the server', () => fake.send({ type: 'ERROR', object: { code: 500, reason: 'InternalError' } })],
  ])('%s is followed by the next, without a list', async (_, end) => {
    const watch = createListWatch();
    await watch.start();
    await watched();
    fake.put(at('before'));
    await sees(watch, 'before');
    end();
    await waitUntil(() => watch.figures.restarts === 1, { what: 'the restart' });
    await watched();
    fake.put(at('later'));
    await sees(watch, 'before', 'later');
    expect([watch.figures.relists, errors.length]).toEqual([1, 1]);
  });

  test('by a normal end of the server is restarted at once and does not count as a failure', async () => {
    const watch = createListWatch();
    await watch.start();
    await watched();
    fake.put(at('before'));
    await sees(watch, 'before');
    fake.endWatches();
    await waitUntil(() => fake.requests.filter((request) => request.endsWith('?watch')).length === 2, { what: 'the next watch' });
    expect([watch.figures.restarts, errors]).toEqual([0, []]);
  });

  test('at once without an event is repeated only after a pause', async () => {
    fake.fault = (_, response, url) => url.searchParams.has('watch') && (response.writeHead(200).end(), true);
    const watch = createListWatch();
    await watch.start();
    await waitUntil(() => errors.length === 2, { what: 'two failures' });
    expect(errors[0]).toMatch(/ended at once/);
    expect(fake.requests.length).toBeLessThanOrEqual(4);
  });

  test('after silence without bookmarks is restarted and does not count as a failure, because the kind may be quiet', async () => {
    const watch = createListWatch({ silenceMs: 100 });
    await watch.start();
    await waitUntil(() => fake.requests.filter((request) => request.endsWith('?watch')).length >= 3, {
      what: 'two more watches',
    });
    expect([watch.figures.restarts, errors]).toEqual([0, []]);
    fake.put(at('later'));
    await sees(watch, 'later');
  });

  test('because the server never accepted it is a failure', async () => {
    fake.fault = (_, __, url) => url.searchParams.has('watch');
    const watch = createListWatch({ silenceMs: 100 });
    await watch.start();
    await waitUntil(() => errors.length > 0, { what: 'the failure' });
    expect(errors[0]).toMatch(/was silent for 100 ms/);
  });
});

test.each([
  [
    'the response',
    () => ((fake.fault = failing(410, 'Expired', 1, ({ url = '' }) => url.includes('watch='))), fake.cutWatches()),
  ],
  ['an event', () => fake.send({ type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old resource version' } })],
])('an expired version, reported by %s, is followed by a list that finds missed changes and deletions', async (_, expire) => {
  fake.put(at('stays'));
  fake.put(at('goes'));
  const watch = createListWatch();
  await watch.start();
  await watched();
  changed.length = 0;
  expire();
  await waitUntil(() => errors.length === 1, { what: 'the failure' });
  fake.remove(at('goes'));
  fake.put(at('came'));
  await sees(watch, 'came', 'stays');
  expect([watch.figures.relists, changed.toSorted()]).toEqual([2, ['a/came', 'a/goes']]);
});

test('a list without items may have null', async () => {
  fake.fault = (request, response) => {
    if (!isList(request)) return false;
    response.end(JSON.stringify({ metadata: { resourceVersion: '100' }, items: null }));
    return true;
  };
  const watch = createListWatch();
  await watch.start();
  expect([watch.list(), errors]).toEqual([[], []]);
});

test('a bookmark moves the version from which the next watch continues', async () => {
  const versions: (string | null)[] = [];
  fake.fault = (_, __, url) => {
    if (url.searchParams.has('watch')) versions.push(url.searchParams.get('resourceVersion'));
    return false;
  };
  const watch = createListWatch();
  await watch.start();
  await watched();
  fake.send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '4711' } } });
  await waitUntil(() => (watch.figures.staleSeconds ?? 1) < 1, { what: 'the bookmark' });
  fake.endWatches();
  await waitUntil(() => versions.length === 2, { what: 'the next watch' });
  expect([versions, changed]).toEqual([['100', '4711'], []]);
});

test('an unavailable server is retried at the start until the first list succeeds', async () => {
  fake.put(at('one'));
  fake.fault = failing(503, 'ServiceUnavailable', 2, isList);
  const watch = createListWatch();
  await watch.start();
  expect([keysOf(watch), watch.figures.restarts]).toEqual([['one'], 2]);
  expect(errors[0]).toMatch(/503 ServiceUnavailable: it is ServiceUnavailable/);
});

test('the same version of an object is reported once', async () => {
  fake.put(at('one'));
  const watch = createListWatch();
  await watch.start();
  await watched();
  fake.send({ type: 'MODIFIED', object: watch.get('a/one') as object });
  fake.put(at('two'));
  await sees(watch, 'one', 'two');
  expect(changed).toEqual(['a/one', 'a/two']);
});

test('all requests share a few connections', async () => {
  const sockets = new Set<unknown>();
  fake.fault = (request) => (sockets.add(request.socket), false);
  const server = stack.use(new KubernetesClient(fake.config, 'test'));
  for (let i = 0; i < 50; i += 1) await server.request({ method: 'GET', path: THINGS });
  // A response's connection is free shortly after its body has ended.
  expect(sockets.size).toBeLessThanOrEqual(2);
});
