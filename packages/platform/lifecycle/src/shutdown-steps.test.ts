import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { runShutdownStep } from './shutdown-steps.ts';
import { untilSignal } from './until-signal.ts';

describe('runShutdownStep', () => {
  const run = async (step: () => Promise<unknown>) => {
    const reports: object[] = [];
    const inTime = await runShutdownStep('flush', step, (details) => reports.push(details), 20);
    return { inTime, reports };
  };

  test('a step that ends in time is not reported', async () => {
    expect(await run(async () => 1)).toEqual({ inTime: true, reports: [] });
  });

  test('a step that times out is reported and skipped', async () => {
    expect(await run(() => new Promise(() => {}))).toEqual({ inTime: false, reports: [{ step: 'flush', timeout_ms: 20 }] });
  });

  test('a step that fails is reported and skipped', async () => {
    const error = new Error('disk');
    expect(await run(() => Promise.reject(error))).toEqual({ inTime: false, reports: [{ step: 'flush', error }] });
  });
});

afterEach(() => {
  jest.useRealTimers();
});

test('resolves with the first signal, ignores its echo, and lets a later one through', async () => {
  jest.useFakeTimers();
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
