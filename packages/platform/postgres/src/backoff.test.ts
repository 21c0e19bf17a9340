import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs } from './backoff.ts';

test('pauses double up to their bound and are shortened by at most half', () => {
  const bounds = { firstMs: 100, maxMs: 15_000 };
  expect([0, 1, 2, 7, 8, 1_000].map((retry) => backoffMs(retry, bounds, 0))).toEqual([100, 200, 400, 12_800, 15_000, 15_000]);
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (retry, random) => {
      const pause = backoffMs(retry, bounds, random);
      return pause <= backoffMs(retry, bounds, 0) && pause >= backoffMs(retry, bounds, 0) / 2;
    }),
  );
});
