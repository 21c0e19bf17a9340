import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { untilSignal } from './until-signal.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('resolves with the first signal, ignores its echo, and lets a later one through', async () => {
  const process = new EventEmitter();
  const signal = untilSignal(process, ['SIGINT', 'SIGTERM']);
  process.emit('SIGTERM');
  process.emit('SIGINT');
  expect(await signal).toBe('SIGTERM');
  jest.advanceTimersByTime(299);
  expect(process.listenerCount('SIGINT')).toBe(1);
  jest.advanceTimersByTime(1);
  expect(process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')).toBe(0);
});
