import { describe, expect, test } from '@jest/globals';
import { runShutdownStep } from './shutdown-steps.ts';

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
