import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { LogThrottle } from './log-throttle.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function setUp() {
  const lines: string[] = [];
  const throttle = new LogThrottle<string>(1_000, (event, count) => lines.push(`${event} ${count}`));
  return { lines, throttle };
}

test('the first of a kind is written at once, and the last after the interval with the count of all since', () => {
  const { lines, throttle } = setUp();
  for (const event of ['a', 'b', 'c']) throttle.add('kind', event);
  throttle.add('other', 'd', 7);
  expect(lines).toEqual(['a 1', 'd 7']);
  jest.advanceTimersByTime(999);
  expect(lines).toHaveLength(2);
  jest.advanceTimersByTime(1);
  expect(lines).toEqual(['a 1', 'd 7', 'c 2']);
  jest.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(3);
  throttle.add('kind', 'e');
  expect(lines.at(-1)).toBe('e 1');
});

test('remaining events are written once at the end', () => {
  const { lines, throttle } = setUp();
  for (const event of ['a', 'b']) throttle.add('kind', event);
  throttle[Symbol.dispose]();
  throttle[Symbol.dispose]();
  expect([lines, jest.getTimerCount()]).toEqual([['a 1', 'b 1'], 0]);
});

test('in any order: every event is in one line, and lines of a kind are an interval apart', () => {
  const steps = fc.array(fc.record({ kind: fc.constantFrom('x', 'y'), count: fc.nat(9), afterMs: fc.nat(1_500) }));
  fc.assert(
    fc.property(steps, (all) => {
      const written: { kind: string; count: number; at: number }[] = [];
      let now = 0;
      const throttle = new LogThrottle<string>(1_000, (kind, count) => written.push({ kind, count, at: now }));
      for (const { kind, count, afterMs } of all) {
        for (let ms = 0; ms < afterMs; ms += 1) {
          now += 1;
          jest.advanceTimersByTime(1);
        }
        throttle.add(kind, kind, count);
      }
      const lines = [...written];
      throttle[Symbol.dispose]();
      for (const kind of ['x', 'y']) {
        const sum = (of: readonly { kind: string; count: number }[]) =>
          of.filter((one) => one.kind === kind).reduce((total, one) => total + one.count, 0);
        expect(sum(written)).toBe(sum(all));
        const at = lines.filter((line) => line.kind === kind).map((line) => line.at);
        for (const [i, time] of at.slice(1).entries()) expect(time - (at[i] ?? 0)).toBeGreaterThanOrEqual(1_000);
      }
    }),
    { numRuns: 50 },
  );
});

test('when the timer is late, the next event after the interval is written at once, with those that waited', () => {
  const lines: string[] = [];
  let now = 0;
  const timing = { clock: () => now, schedule: () => () => {} };
  using throttle = new LogThrottle<string>(1_000, (event, count) => lines.push(`${event} ${count}`), timing);
  for (const event of ['a', 'b']) throttle.add('kind', event);
  now = 999;
  throttle.add('kind', 'c');
  expect(lines).toEqual(['a 1']);
  now = 1_000;
  throttle.add('kind', 'd');
  expect(lines).toEqual(['a 1', 'd 3']);
});
