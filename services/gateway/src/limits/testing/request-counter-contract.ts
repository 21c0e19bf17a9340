import { expect, test } from '@jest/globals';
import {
  scopeNames,
  type RateLimits,
  type RateResult,
  type RequestCounter,
  type ScopeNames,
} from '../requests/request-counter.ts';

const one = scopeNames('org', 'ws', 'gk_1');
const two = scopeNames('org', 'ws', 'gk_2');

export interface TestCounter extends AsyncDisposable {
  /** A counter whose window is 60 s of this clock. */
  readonly counter: RequestCounter;
  readonly time: { now: number };
}

/** The promises of every counter within a single process, shared or not. */
export function describeRequestCounter(open: (maxWindows?: number) => Promise<TestCounter>): void {
  const admitAt = ({ counter, time }: TestCounter, names: ScopeNames, limits: RateLimits, at: number) => {
    time.now = at;
    return counter.admit(names, limits);
  };
  const scopeOf = (result: RateResult) => (typeof result === 'object' ? result.scope : result);

  test('keys are checked before workspaces, each separately', async () => {
    await using opened = await open();
    const limits = { key: 1, workspace: 2 };
    const three = scopeNames('org', 'ws', 'gk_3');
    const results: RateResult[] = [];
    for (const [i, names] of [one, one, two, one, three, scopeNames('org', 'other', 'gk_4')].entries())
      results.push(await admitAt(opened, names, limits, 10 * i));
    expect(results.map(scopeOf)).toEqual([undefined, 'key', undefined, 'key', 'workspace', undefined]);
  });

  test('a request that the workspace rejects does not use up the key', async () => {
    await using opened = await open();
    const limits = { key: 2, workspace: 1 };
    expect(await admitAt(opened, two, limits, 0)).toBeUndefined();
    for (let at = 1; at < 10; at += 1) expect(await admitAt(opened, one, limits, at)).toMatchObject({ scope: 'workspace' });
    const others = { key: 2, workspace: 0 };
    const results = [await admitAt(opened, one, others, 10), await admitAt(opened, one, others, 11)];
    expect([...results, scopeOf(await admitAt(opened, one, others, 12))]).toEqual([undefined, undefined, 'key']);
  });

  test('a rejection returns when to retry: within the minute', async () => {
    await using opened = await open();
    const limits = { key: 2, workspace: 0 };
    for (const at of [0, 100]) expect(await admitAt(opened, one, limits, at)).toBeUndefined();
    expect(await admitAt(opened, one, limits, 1_000)).toEqual({ scope: 'key', waitMs: 59_000 });
    expect(await admitAt(opened, one, limits, 59_999)).toEqual({ scope: 'key', waitMs: 1 });
    expect(await admitAt(opened, one, limits, 60_000)).toBeUndefined();
  });

  test('0 is no limit', async () => {
    await using opened = await open();
    for (let at = 0; at < 100; at += 1) expect(await admitAt(opened, one, { key: 0, workspace: 0 }, at)).toBeUndefined();
  });

  test('a key without a window cannot be counted', async () => {
    await using opened = await open(2);
    const results: RateResult[] = [];
    for (let i = 0; i < 3; i += 1)
      results.push(await admitAt(opened, scopeNames('org', 'ws', `gk_${i}`), { key: 5, workspace: 0 }, i));
    expect(results).toEqual([undefined, undefined, 'unavailable']);
  });

  test('1,000 at once against 100 a minute: 100 pass', async () => {
    await using opened = await open();
    const results = Array.from({ length: 1_000 }, async () => admitAt(opened, one, { key: 100, workspace: 0 }, 5));
    const passed = (await Promise.all(results)).filter((result) => result === undefined);
    expect(passed).toHaveLength(100);
  });
}
