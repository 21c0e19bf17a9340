import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newestFirst } from './newest-first.ts';
import type { TimeRange } from './time-range.ts';

const LATEST = 40;
const range: fc.Arbitrary<TimeRange> = fc
  .tuple(fc.nat(LATEST), fc.nat(LATEST))
  .map(([one, other]) => ({ oldest: Math.min(one, other), newest: Math.max(one, other) }));
/** A part, and what there is in it. */
const part = range.chain((whole) =>
  fc.record({
    oldest: fc.constant(whole.oldest),
    newest: fc.constant(whole.newest),
    holds: fc
      .array(range, { maxLength: 3 })
      .map((some) => some.filter(({ oldest, newest }) => oldest >= whole.oldest && newest <= whole.newest)),
  }),
);
const momentsOf = (ranges: readonly TimeRange[]) =>
  new Set(ranges.flatMap(({ oldest, newest }) => Array.from({ length: newest - oldest + 1 }, (_, i) => oldest + i)));

test('stretches come newest first, disjoint, and cover what is there and nothing else', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), fc.array(range, { maxLength: 2 }), fc.nat(LATEST), (parts, known, top) => {
      const found = [...newestFirst(parts, ({ holds }) => holds, known, top)];
      for (const [i, { oldest }] of found.entries()) expect(found[i + 1]?.newest ?? -1).toBeLessThan(oldest);
      const wanted = momentsOf([...parts.flatMap(({ holds }) => holds), ...known]);
      expect(momentsOf(found)).toEqual(new Set([...wanted].filter((moment) => moment <= top)));
    }),
  );
});

test('parts are looked at only as far as they are needed', () => {
  const looked: number[] = [];
  const parts = [1, 3, 2].map((at) => ({ oldest: 10 * at, newest: 10 * at + 5 }));
  const look = (one: TimeRange) => {
    looked.push(one.newest);
    return [one];
  };
  const ranges = newestFirst(parts, look, [], 28);
  expect([...ranges.take(1), looked]).toEqual([{ oldest: 20, newest: 25 }, [25]]);
});
