import { describe, expect, test } from '@jest/globals';
import { RateWindows } from './rate-windows.ts';
import { scopeNames } from './scope-names.ts';

const one = scopeNames('org', 'ws', 'gk_1');
const two = scopeNames('org', 'ws', 'gk_2');

describe('request rates', () => {
  test('keys are judged before workspaces, each by itself', () => {
    const windows = new RateWindows();
    const limits = { key: 1, workspace: 2 };
    expect(windows.admit(one, limits, 0)).toBeUndefined();
    expect(windows.admit(one, limits, 10)).toEqual({ scope: 'key', waitMs: 59_990 });
    expect(windows.admit(two, limits, 20)).toBeUndefined();
    expect(windows.admit(one, limits, 30)).toEqual({ scope: 'key', waitMs: 59_970 });
    expect(windows.admit(scopeNames('org', 'ws', 'gk_3'), limits, 40)).toEqual({ scope: 'workspace', waitMs: 59_960 });
    expect(windows.admit(scopeNames('org', 'other', 'gk_4'), limits, 50)).toBeUndefined();
  });

  test('what the workspace refuses does not use up the key', () => {
    const windows = new RateWindows();
    const limits = { key: 2, workspace: 1 };
    expect(windows.admit(two, limits, 0)).toBeUndefined();
    for (let at = 1; at < 10; at += 1) expect(windows.admit(one, limits, at)).toMatchObject({ scope: 'workspace' });
    expect(windows.admit(one, { key: 2, workspace: 3 }, 10)).toBeUndefined();
    expect(windows.admit(one, { key: 2, workspace: 3 }, 11)).toBeUndefined();
    expect(windows.admit(one, { key: 2, workspace: 9 }, 12)).toMatchObject({ scope: 'key' });
  });

  test('0 is no limit, and takes no room', () => {
    const windows = new RateWindows();
    for (let at = 0; at < 1_000; at += 1) expect(windows.admit(one, { key: 0, workspace: 0 }, at)).toBeUndefined();
    expect(windows.size).toBe(0);
  });

  test('windows of the idle are swept, and a key without room is told that nobody can count it', () => {
    const windows = new RateWindows(2);
    const limits = { key: 5, workspace: 0 };
    const names = (i: number) => scopeNames('org', 'ws', `gk_${i}`);
    expect([0, 1, 2].map((i) => windows.admit(names(i), limits, i))).toEqual([undefined, undefined, 'full']);
    expect(windows.admit(names(1), limits, 59_000)).toBeUndefined();
    // Only the first has been idle for a minute.
    expect(windows.admit(names(3), limits, 60_000)).toBeUndefined();
    expect(windows.admit(names(4), limits, 61_500)).toBe('full');
    expect(windows.size).toBe(2);
  });

  test('1,000 at once against 100 a minute: 100 pass', () => {
    const windows = new RateWindows();
    const verdicts = Array.from({ length: 1_000 }, () => windows.admit(one, { key: 100, workspace: 0 }, 5));
    expect(verdicts.filter((verdict) => verdict === undefined)).toHaveLength(100);
  });
});
