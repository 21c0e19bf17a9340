import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';

/** Requests as pauses before each of them, in milliseconds: many at once, some after long silence. Eighths, so that sums are exact. */
const pauses = (maxLength: number) =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.nat({ max: 3 }) },
      { weight: 3, arbitrary: fc.nat({ max: 400 }) },
      { weight: 1, arbitrary: fc.nat({ max: 560_000 }).map((eighths) => eighths / 8) },
    ),
    { maxLength },
  );

/** A steady stream of some hundred a minute, for minutes. */
const stream = fc.array(
  fc.nat({ max: 3_000 }).map((eighths) => eighths / 8),
  { minLength: 600, maxLength: 1_500 },
);

/** Sends requests through a window; returns the times of admitted requests and the waits of rejected ones. */
function send(window: SlidingWindow, limit: number, arrivals: readonly number[]) {
  const passed: number[] = [];
  const rejected: { at: number; waitMs: number; passedBefore: number }[] = [];
  for (const at of arrivals) {
    const waitMs = window.waitMs(limit, at);
    if (waitMs > 0) {
      rejected.push({ at, waitMs, passedBefore: passed.length });
      continue;
    }
    window.add(limit, at);
    passed.push(at);
  }
  return { passed, rejected };
}

function times(steps: readonly number[]): number[] {
  let now = 0;
  return steps.map((step) => (now += step));
}

/** How many of `passed` lie in the 60 s that end with `now`. */
const within = (passed: readonly number[], now: number, span = WINDOW_MS) =>
  passed.filter((at) => at > now - span && at <= now).length;

describe('a sliding window', () => {
  test('never admits more than the limit in any 60 s, whatever the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.oneof(pauses(700), stream), (limit, steps) => {
        const { passed } = send(new SlidingWindow(), limit, times(steps));
        // The fullest windows end with an admitted request.
        expect(passed.filter((at, i) => i >= limit && at - (passed[i - limit] ?? 0) < WINDOW_MS)).toEqual([]);
      }),
    );
  });

  test('up to 240 a minute rejects only requests beyond the limit, and returns exactly when the next is admitted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 240 }), pauses(300), (limit, steps) => {
        const { passed, rejected } = send(new SlidingWindow(), limit, times(steps));
        const wrong = rejected.filter(({ at, waitMs, passedBefore }) => {
          const before = passed.slice(0, passedBefore);
          const isFull = within(before, at) === limit && within(before, at + waitMs - 0.125) === limit;
          return !isFull || within(before, at + waitMs) >= limit;
        });
        expect(wrong).toEqual([]);
      }),
    );
  });

  test('above 240 a minute frees a slot at most a quarter of a second late', () => {
    fc.assert(
      fc.property(fc.integer({ min: 241, max: 300 }), stream, (limit, steps) => {
        const { passed, rejected } = send(new SlidingWindow(), limit, times(steps));
        const early = rejected.filter(
          ({ at, passedBefore }) => within(passed.slice(0, passedBefore), at, WINDOW_MS + 250) < limit,
        );
        expect(early).toEqual([]);
      }),
    );
  });

  test('a lowered limit applies to requests that were admitted before', () => {
    const window = new SlidingWindow();
    for (let at = 0; at < 10; at += 1) window.add(100, at);
    expect(window.waitMs(100, 10)).toBe(0);
    // Eight of ten requests have to expire before two are left.
    expect(window.waitMs(3, 10)).toBe(WINDOW_MS + 7 - 10);
  });

  test('1,000,000 a minute take at most 241 marks, and an idle window has none', () => {
    const window = new SlidingWindow();
    const limit = 1_000_000;
    const { passed } = send(
      window,
      limit,
      Array.from({ length: limit }, (_, i) => i * 0.06),
    );
    expect(passed).toHaveLength(limit);
    const now = passed.at(-1) ?? 0;
    expect(window.marks).toBeLessThanOrEqual(241);
    expect(window.isIdle(now + WINDOW_MS)).toBe(true);
  });
});
