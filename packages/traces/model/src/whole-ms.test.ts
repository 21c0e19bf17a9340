import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { wholeMs } from './whole-ms.ts';

test.each([
  [0, 0],
  [499, 0],
  [500, 1],
  [1_499, 1],
  [1_500, 2],
  [90_009, 90],
])('%i µs are %i ms', (microseconds, ms) => {
  expect(wholeMs(microseconds)).toBe(ms);
});

test('an earlier time is never shown as later', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (one, other) => {
      expect(wholeMs(Math.min(one, other))).toBeLessThanOrEqual(wholeMs(Math.max(one, other)));
    }),
  );
});
