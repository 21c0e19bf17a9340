import { describe, expect, test } from '@jest/globals';
import { InMemoryRequestCounter } from './in-memory-request-counter.ts';
import { scopeNames, type RateLimits, type ScopeNames } from './request-counter.ts';
import { describeRequestCounter } from '../testing/request-counter-contract.ts';

const one = scopeNames('org', 'ws', 'gk_1');

function setUp(max?: number) {
  let now = 0;
  const counter = new InMemoryRequestCounter(() => now, max);
  const admit = (names: ScopeNames, limits: RateLimits, at: number) => {
    now = at;
    return counter.admit(names, limits);
  };
  return { counter, admit };
}

describe('request rates', () => {
  describeRequestCounter(async (max) => {
    const time = { now: 0 };
    return { counter: new InMemoryRequestCounter(() => time.now, max), time, [Symbol.asyncDispose]: async () => {} };
  });

  test('a limit of 0 needs no window', () => {
    const { counter, admit } = setUp();
    for (let at = 0; at < 1_000; at += 1) expect(admit(one, { key: 0, workspace: 0 }, at)).toBeUndefined();
    expect(counter.size).toBe(0);
  });

  test('idle windows are swept, and a key without a window cannot be counted', () => {
    const { counter, admit } = setUp(2);
    const limits = { key: 5, workspace: 0 };
    const names = (i: number) => scopeNames('org', 'ws', `gk_${i}`);
    expect([0, 1, 2].map((i) => admit(names(i), limits, i))).toEqual([undefined, undefined, 'unavailable']);
    expect(admit(names(1), limits, 59_000)).toBeUndefined();
    // Only the first has been idle for a minute.
    expect(admit(names(3), limits, 60_000)).toBeUndefined();
    expect(admit(names(4), limits, 61_500)).toBe('unavailable');
    expect(counter.size).toBe(2);
  });
});
