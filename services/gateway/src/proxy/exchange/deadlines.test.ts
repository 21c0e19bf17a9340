import { describe, expect, jest, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { Deadlines, DEADLINE_TICK_MS, type Tracked } from './deadlines.ts';

const one = (): Tracked => ({ extendByMs: 0, deadlineAt: Number.POSITIVE_INFINITY, slot: 0, onDeadline: () => {} });

test('watches exactly those that were not forgotten, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 60 }), (choices) => {
      using deadlines = new Deadlines(() => 0, 1_000_000);
      const tracked: Tracked[] = [];
      for (const choice of choices) {
        if (choice % 3 > 0 || tracked.length === 0) {
          const added = one();
          tracked.push(added);
          deadlines.track(added);
        } else {
          const [gone] = tracked.splice(choice % tracked.length, 1);
          if (gone !== undefined) deadlines.forget(gone);
        }
        expect(new Set(deadlines.tracked())).toEqual(new Set(tracked));
        expect(deadlines.size).toBe(tracked.length);
        for (const each of tracked) expect(deadlines.tracked()[each.slot]).toBe(each);
      }
    }),
  );
});

test('empty resolves when the last is forgotten', async () => {
  using deadlines = new Deadlines(() => 0, 1_000_000);
  const [first, last] = [one(), one()];
  for (const each of [first, last]) deadlines.track(each);
  let isEmpty = false;
  const empty = deadlines.empty().then(() => (isEmpty = true));
  deadlines.forget(first);
  await Promise.resolve();
  expect(isEmpty).toBe(false);
  deadlines.forget(last);
  await empty;
});

/** Restarts its deadline on request, and records when. */
class Timed implements Tracked {
  extendByMs = 0;
  deadlineAt = Number.POSITIVE_INFINITY;
  slot = 0;
  readonly firedAt: number[] = [];
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  onDeadline(): void {
    this.firedAt.push(this.#clock());
  }
}

describe('a deadline is never early, and late by 250 ms at most', () => {
  const timeouts = [1, 99, 100, 101, 250, 600, 1_000];
  // Where between two ticks its time began.
  const phases = [0, 1, 37, 50, 99, 99.9];
  test.each(timeouts.flatMap((timeoutMs) => phases.map((phaseMs) => [timeoutMs, phaseMs])))(
    'of %d ms, begun %d ms after a tick',
    (timeoutMs, phaseMs) => {
      jest.useFakeTimers();
      try {
        let skew = 0;
        const clock = () => Date.now() + skew;
        using deadlines = new Deadlines(clock);
        const timed = new Timed(clock);
        deadlines.track(timed);
        jest.advanceTimersByTime(3 * DEADLINE_TICK_MS + Math.floor(phaseMs));
        skew = phaseMs % 1;
        const begunAt = clock();
        timed.extendByMs = timeoutMs;
        skew = 0;
        jest.advanceTimersByTime(timeoutMs + 250);
        const [firedAt = Number.NaN] = timed.firedAt;
        expect(firedAt - begunAt).toBeGreaterThanOrEqual(timeoutMs);
        expect(firedAt - begunAt).toBeLessThanOrEqual(timeoutMs + 250);
      } finally {
        jest.useRealTimers();
      }
    },
  );

  test('for any timing of ticks and chunks; late ticks add their lateness', () => {
    const step = fc.record({ kind: fc.constantFrom('chunk', 'tick'), afterMs: fc.double({ min: 0, max: 700, noNaN: true }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 1_000 }), (steps, timeoutMs) => {
        let now = 0;
        using deadlines = new Deadlines(() => now, 1_000_000);
        const timed = new Timed(() => now);
        deadlines.track(timed);
        let begunAt = 0;
        let latestTick = 0;
        let longestGap = 0;
        timed.extendByMs = timeoutMs;
        for (const { kind, afterMs } of steps) {
          now += afterMs;
          if (kind === 'chunk') {
            begunAt = now;
            timed.extendByMs = timeoutMs;
            timed.firedAt.length = 0;
            longestGap = now - latestTick;
            continue;
          }
          longestGap = Math.max(longestGap, now - latestTick);
          latestTick = now;
          deadlines.tick();
          const isDue = now >= begunAt + timeoutMs + 2 * longestGap;
          if (isDue) expect(timed.firedAt.length).toBeGreaterThan(0);
          for (const at of timed.firedAt) expect(at).toBeGreaterThanOrEqual(begunAt + timeoutMs);
        }
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });
});

test('an entry that is forgotten at its deadline, alone or with others, hides no other from the tick', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ isLate: fc.boolean(), takes: fc.nat(9) }), { maxLength: 20 }), (specs) => {
      using deadlines = new Deadlines(() => 10, 1_000_000);
      const notified = new Set<number>();
      const gone = new Set<number>();
      const all = specs.map(({ isLate }) => ({ ...one(), deadlineAt: isLate ? 10 : 11 }));
      const leave = (index: number) => {
        const each = all[index];
        if (each === undefined || gone.has(index)) return;
        gone.add(index);
        deadlines.forget(each);
      };
      for (const [index, each] of all.entries()) {
        each.onDeadline = () => {
          notified.add(index);
          leave(index);
          leave(specs[index]?.takes ?? 0);
        };
        deadlines.track(each);
      }
      deadlines.tick();
      const late = specs.flatMap(({ isLate }, index) => (isLate ? [index] : []));
      // An entry forgotten together with another may not have been called.
      expect(late.filter((index) => !notified.has(index) && !gone.has(index))).toEqual([]);
      expect([...notified].filter((index) => !late.includes(index))).toEqual([]);
    }),
  );
});
