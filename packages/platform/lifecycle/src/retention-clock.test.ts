import { expect, test } from '@jest/globals';
import { RetentionClock, type RetentionRun } from './retention-clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const T0 = Date.UTC(2026, 0, 5);
const ran = (at: number): RetentionRun => ({ at, ranAt: at });

interface Case {
  readonly minutes?: number;
  /** The offset of the store's clock from the true time. */
  readonly aheadMs?: (minute: number) => number;
  readonly last?: RetentionRun;
  readonly newestMs?: number;
  /** Processes that take turns. */
  readonly processes?: number;
}

/** The clock after each minute, since `T0`. */
function runs({ minutes = 300, aheadMs = () => 0, last, newestMs, processes = 1 }: Case): number[] {
  let [steady, run] = [0, last];
  const clocks = Array.from({ length: processes }, () => new RetentionClock(() => steady));
  return Array.from({ length: minutes }, (_, minute) => {
    steady = minute * MINUTE_MS;
    run = clocks[minute % processes]!.next(run, T0 + steady + aheadMs(minute), newestMs);
    return run.at - T0;
  });
}

function expectTwoDaysAnHour(at: readonly number[]): void {
  const gains = at.map((ms, minute) => ms - (at[Math.max(0, minute - 60)] ?? 0));
  expect(Math.max(...gains)).toBeLessThanOrEqual(2 * DAY_MS);
}

test('it equals the clock of the store while that runs normally, also after a night off', () => {
  const minutes = Array.from({ length: 300 }, (_, minute) => minute * MINUTE_MS);
  expect(runs({ last: ran(T0 - MINUTE_MS) })).toEqual(minutes);
  expect(runs({ last: ran(T0 - DAY_MS) })).toEqual(minutes);
  expect(runs({ last: ran(T0 - DAY_MS), processes: 3 })).toEqual(minutes);
});

test('a clock 40 days ahead advances it by two days an hour, and it is correct as soon as the clock is', () => {
  const ahead = runs({ aheadMs: (minute) => (minute < 1 || minute >= 150 ? 0 : 40 * DAY_MS), last: ran(T0) });
  expectTwoDaysAnHour(ahead);
  expect([ahead[60], ahead[120], ahead[150]]).toEqual([2 * DAY_MS, 4 * DAY_MS, 150 * MINUTE_MS]);
});

test.each([0.1, 0.9, 40])('a clock that jumps by %s days every minute advances it by two days an hour', (days) => {
  const aheadMs = (minute: number) => minute * days * DAY_MS;
  expectTwoDaysAnHour(runs({ aheadMs, last: ran(T0) }));
});

test.each([2, 3, 5])('%s processes that share a store advance it by two days an hour together', (processes) => {
  const aheadMs = (minute: number) => Math.max(0, minute - processes) * 40 * DAY_MS;
  expectTwoDaysAnHour(runs({ aheadMs, last: ran(T0), processes }));
});

test('a clock that jumps ahead and back advances it no further than a steady one', () => {
  const aheadMs = (minute: number) => (minute % 4 < 2 ? 0 : 40 * DAY_MS);
  const at = runs({ aheadMs, last: ran(T0), processes: 3 });
  expect(Math.max(...at.map((ms, minute) => ms - minute * MINUTE_MS))).toBeLessThanOrEqual(2 * DAY_MS);
});

test('a starting process advances it by at most two days for any clock', () => {
  expect(runs({ minutes: 1, last: ran(T0 - 30 * DAY_MS) })).toEqual([-28 * DAY_MS]);
  expect(runs({ minutes: 1, last: ran(T0), aheadMs: () => 40 * DAY_MS })).toEqual([2 * DAY_MS]);
});

test('a store that was off for a month catches up within 15 hours', () => {
  const late = runs({ minutes: 15 * 60, last: ran(T0 - 30 * DAY_MS) });
  expectTwoDaysAnHour(late.map((ms) => ms + 28 * DAY_MS));
  expect(late.at(-1)).toBe((15 * 60 - 1) * MINUTE_MS);
});

test('without a last run it begins at the newest row, or at the clock when there is no row or it is in the future', () => {
  const first = { minutes: 1, newestMs: T0 };
  expect(runs({ ...first, aheadMs: () => 40 * DAY_MS })).toEqual([2 * DAY_MS]);
  expect(runs({ ...first, newestMs: T0 - DAY_MS })).toEqual([0]);
  expect(runs({ ...first, newestMs: T0 + 40 * DAY_MS })).toEqual([0]);
  expect(runs({ minutes: 1 })).toEqual([0]);
});
