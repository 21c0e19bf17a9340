import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { CallQueue } from './call-queue.ts';

test('calls run one at a time in order, also after a failed one', async () => {
  const order: string[] = [];
  await using queue = new CallQueue(async (argument) => {
    order.push(`${String(argument)} begins`);
    await Promise.resolve();
    order.push(`${String(argument)} ends`);
    if (argument === 'a') throw new Error('broken');
    return argument;
  }, 2);
  const results = await Promise.allSettled([queue.call('a'), queue.call('b')]);
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual(['failed', 'b']);
});

test('calls beyond the bound are rejected, and so is every call of a closed queue', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const queue = new CallQueue(() => promise, 2);
  const taken = [queue.call(1), queue.call(2)];
  expect(await queue.call(3).catch(codeOf)).toBe('worker_busy');
  const closed = queue[Symbol.asyncDispose]();
  expect(await queue.call(4).catch(codeOf)).toBe('worker_failed');
  resolve();
  await Promise.all([...taken, closed]);
});
