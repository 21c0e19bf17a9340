import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { WorkQueue } from './work-queue.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** With the full backoff. */
const createQueue = () => new WorkQueue({ random: () => 1 });

describe('a key', () => {
  test('that is added several times waits once, in its first place', async () => {
    const queue = createQueue();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(queue.figures).toMatchObject({ depth: 3, adds: 3 });
    expect([await queue.next(), await queue.next(), await queue.next()]).toEqual(['a', 'b', 'c']);
  });

  test('that is added while running runs once more afterwards', async () => {
    const queue = createQueue();
    queue.add('a');
    await queue.next();
    queue.add('a');
    queue.add('a');
    expect(queue.figures.depth).toBe(0);
    queue.done('a');
    expect(await queue.next()).toBe('a');
    queue.done('a');
    expect(queue.figures.depth).toBe(0);
  });

  test('that is claimed goes to no worker until it is done, and a running one cannot be claimed', async () => {
    const queue = createQueue();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    expect(await queue.next()).toBe('a');
    expect(['a', 'b', 'd'].map((key) => queue.claim(key))).toEqual([false, true, true]);
    queue.add('b');
    expect(await queue.next()).toBe('c');
    expect(queue.figures.depth).toBe(0);
    queue.done('b');
    queue.done('d');
    expect(await queue.next()).toBe('b');
    expect(queue.figures.depth).toBe(0);
  });

  test('goes to a waiting worker', async () => {
    const queue = createQueue();
    const first = queue.next();
    const second = queue.next();
    queue.add('a');
    queue.add('b');
    expect([await first, await second]).toEqual(['a', 'b']);
  });

  test('that fails waits twice as long each time, up to 5 minutes, until it is forgotten', async () => {
    const queue = createQueue();
    const waitOf = async () => {
      const from = performance.now();
      queue.addRateLimited('a');
      const next = queue.next();
      await jest.runOnlyPendingTimersAsync();
      queue.done((await next) as string);
      return Math.round((performance.now() - from) / 1_000);
    };
    const waits: number[] = [];
    for (let i = 0; i < 10; i += 1) waits.push(await waitOf());
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    queue.forget('a');
    expect(await waitOf()).toBe(1);
    expect(queue.figures.retries).toBe(11);
  });

  test('with two delays runs once, after the shorter one', async () => {
    const queue = createQueue();
    queue.addAfter('a', 5_000);
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 3_000);
    await jest.advanceTimersByTimeAsync(999);
    expect(queue.figures.depth).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(await queue.next()).toBe('a');
    queue.done('a');
    await jest.advanceTimersByTimeAsync(10_000);
    expect(queue.figures.depth).toBe(0);
  });

  test('that is added runs at once, and not again when its delay ends', async () => {
    const queue = createQueue();
    queue.addAfter('a', 1_000);
    queue.add('a');
    queue.done((await queue.next()) as string);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(queue.figures.depth).toBe(0);
  });
});

test('retries of all keys together are at most 10 a second after a burst of 100', async () => {
  const queue = createQueue();
  for (let i = 0; i < 200; i += 1) queue.addRateLimited(`key-${i}`);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(queue.figures.depth).toBe(110);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(queue.figures.depth).toBe(160);
});

test('added keys do not wait for retries of others', () => {
  const queue = createQueue();
  for (let i = 0; i < 1_000; i += 1) queue.addRateLimited(`failing-${i}`);
  queue.add('a');
  expect(queue.figures.depth).toBe(1);
});

test('a delay that ends while its key waits does not replace the next one', async () => {
  const queue = createQueue();
  queue.add('a');
  queue.addAfter('a', 1_000);
  await jest.advanceTimersByTimeAsync(2_000);
  await queue.next();
  queue.addRateLimited('a');
  queue.done('a');
  await jest.advanceTimersByTimeAsync(2_000);
  expect(queue.figures.depth).toBe(1);
});

describe('shutting down', () => {
  test('gives out no more keys and waits for running ones', async () => {
    const queue = createQueue();
    queue.add('a');
    queue.add('b');
    await queue.next();
    let isDown = false;
    const down = queue.shutDown().then(() => (isDown = true));
    expect(await queue.next()).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(isDown).toBe(false);
    queue.done('a');
    await down;
    queue.add('c');
    expect(queue.figures.depth).toBe(0);
  });

  test('ends the waiting of workers', async () => {
    const queue = createQueue();
    const next = queue.next();
    await queue.shutDown();
    expect(await next).toBeUndefined();
  });
});

test('figures report how long keys have run', async () => {
  const waited: number[] = [];
  const took: number[] = [];
  const queue = new WorkQueue({ onStart: (ms) => waited.push(ms), onDone: (ms) => took.push(ms) });
  queue.add('a');
  queue.add('b');
  await jest.advanceTimersByTimeAsync(500);
  await queue.next();
  await jest.advanceTimersByTimeAsync(1_000);
  await queue.next();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(queue.figures).toMatchObject({ unfinishedSeconds: 3, longestRunningSeconds: 2 });
  queue.done('a');
  expect([waited, took]).toEqual([[500, 1_500], [2_000]]);
});

type Step = readonly ['add' | 'addAfter' | 'addRateLimited' | 'done' | 'next' | 'tick', number];
const KEYS = ['a', 'b', 'c'];

test('in any order of events no key runs twice at once, and each runs after it was last added', async () => {
  const step = fc.tuple(
    fc.constantFrom('add', 'addAfter', 'addRateLimited', 'done', 'next', 'tick'),
    fc.nat(2),
  ) as fc.Arbitrary<Step>;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const queue = new WorkQueue();
      const pending = new Set<string>();
      const running: string[] = [];
      const start = (key: string | undefined) => {
        if (key === undefined) return;
        expect(running).not.toContain(key);
        running.push(key);
        pending.delete(key);
      };
      const finish = (key: string | undefined) => {
        if (key === undefined) return;
        running.splice(running.indexOf(key), 1);
        queue.done(key);
      };
      for (const [name, at] of steps) {
        const key = KEYS[at] ?? '';
        if (name === 'tick') await jest.advanceTimersByTimeAsync(at * 400_000);
        else if (name === 'done') finish(running[at]);
        else if (name === 'next') {
          if (queue.figures.depth > 0) start(await queue.next());
        } else {
          pending.add(key);
          if (name === 'addAfter') queue.addAfter(key, at * 1_000);
          else queue[name](key);
        }
      }
      // Every added key is eventually given out.
      while (running.length > 0) finish(running[0]);
      await jest.advanceTimersByTimeAsync(400_000);
      while (queue.figures.depth > 0) {
        start(await queue.next());
        finish(running[0]);
      }
      expect([...pending]).toEqual([]);
    }),
  );
});
