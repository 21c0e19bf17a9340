import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { Worker } from 'node:worker_threads';
import { WorkerCalls } from './worker-calls.ts';

/** A worker that doubles numbers with a handler of `serveCalls`. */
const DOUBLING = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (message) => {
    if ('close' in message) parentPort.close();
    else if (message.argument === 'die') throw new Error('dead');
    else parentPort.postMessage({ call: message.call, value: 2 * message.argument });
  });`;
let started = 0;
const start = () => {
  started += 1;
  return new Worker(DOUBLING, { eval: true });
};

test('a dead thread is replaced by the next call, but a closed one never is', async () => {
  started = 0;
  const calls = new WorkerCalls(start, 4);
  expect(await calls.call(21)).toBe(42);
  expect(await calls.call('die').catch(codeOf)).toBe('worker_failed');
  expect(await calls.call(1)).toBe(2);
  const last = calls.call(5);
  await calls[Symbol.asyncDispose]();
  expect(await last).toBe(10);
  expect(await calls.call(1).catch(codeOf)).toBe('worker_failed');
  expect(started).toBe(2);
});
