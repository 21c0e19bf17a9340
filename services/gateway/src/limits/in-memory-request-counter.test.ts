import { describe, expect, test } from '@jest/globals';
import { InMemoryRequestCounter } from './in-memory-request-counter.ts';
import type { RateLimits } from './request-counter.ts';
import { scopeNames, type ScopeNames } from './scope-names.ts';

const one = scopeNames('org', 'ws', 'gk_1');
const two = scopeNames('org', 'ws', 'gk_2');

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
  test('keys are checked before workspaces, each by itself', () => {
    const { admit } = setUp();
    const limits = { key: 1, workspace: 2 };
    expect(admit(one, limits, 0)).toBeUndefined();
    expect(admit(one, limits, 10)).toEqual({ scope: 'key', waitMs: 59_990 });
    expect(admit(two, limits, 20)).toBeUndefined();
    expect(admit(one, limits, 30)).toEqual({ scope: 'key', waitMs: 59_970 });
    expect(admit(scopeNames('org', 'ws', 'gk_3'), limits, 40)).toEqual({ scope: 'workspace', waitMs: 59_960 });
    expect(admit(scopeNames('org', 'other', 'gk_4'), limits, 50)).toBeUndefined();
  });

  test('a request that the workspace rejects does not use up the key', () => {
    const { admit } = setUp();
    const limits = { key: 2, workspace: 1 };
    expect(admit(two, limits, 0)).toBeUndefined();
    for (let at = 1; at < 10; at += 1) expect(admit(one, limits, at)).toMatchObject({ scope: 'workspace' });
    expect(admit(one, { key: 2, workspace: 3 }, 10)).toBeUndefined();
    expect(admit(one, { key: 2, workspace: 3 }, 11)).toBeUndefined();
    expect(admit(one, { key: 2, workspace: 9 }, 12)).toMatchObject({ scope: 'key' });
  });

  test('0 is no limit, and takes no room', () => {
    const { counter, admit } = setUp();
    for (let at = 0; at < 1_000; at += 1) expect(admit(one, { key: 0, workspace: 0 }, at)).toBeUndefined();
    expect(counter.size).toBe(0);
  });

  test('idle windows are swept, and a key for which there is no window cannot be counted', () => {
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

  test('1,000 at once against 100 a minute: 100 pass', () => {
    const { admit } = setUp();
    const results = Array.from({ length: 1_000 }, () => admit(one, { key: 100, workspace: 0 }, 5));
    expect(results.filter((result) => result === undefined)).toHaveLength(100);
  });
});
