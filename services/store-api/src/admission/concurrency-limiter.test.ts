import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';

const limiterOf = (bounds: { limit?: number; maxWaiting?: number; maxWaitMs?: number } = {}) =>
  new ConcurrencyLimiter({ bound: 'test', limit: 2, maxWaiting: 3, maxWaitMs: 600_000, ...bounds });
const codeOfAcquire = (limiter: ConcurrencyLimiter, group = 'a') =>
  limiter.acquire(group).then(
    () => 'acquired',
    (error: unknown) => codeOf(error),
  );

test('at most the limit of a group runs at a time, others wait in order, and groups do not wait for each other', async () => {
  const limiter = limiterOf();
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const enter = (group: string, name: string) =>
    limiter.run(group, () => {
      order.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('a', 'a4'), enter('b', 'b1')];
  await Promise.resolve();
  expect([order, limiter.mostRunning]).toEqual([['a1', 'a2', 'b1'], 2]);
  for (let n = 0; n < all.length; n += 1) {
    ends[n]?.();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect([order, limiter.mostRunning]).toEqual([['a1', 'a2', 'b1', 'a3', 'a4'], 0]);
});

test('a caller is refused at once when too many wait, or after waiting too long', async () => {
  const limiter = limiterOf({ limit: 1, maxWaiting: 1, maxWaitMs: 1 });
  const release = await limiter.acquire('a');
  const waiting = codeOfAcquire(limiter);
  expect(await codeOfAcquire(limiter)).toBe('overloaded');
  expect(await waiting).toBe('overloaded');
  release();
  expect(await codeOfAcquire(limiter)).toBe('acquired');
});
