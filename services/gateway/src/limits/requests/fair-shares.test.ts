import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fairShares } from './shared-window.ts';

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

test.each([
  [600, [600, 600, 600], [200, 200, 200]],
  [10, [600, 600, 600], [4, 3, 3]],
  [600, [50, 600, 100], [50, 450, 100]],
  [600, [1, 2, 3], [1, 2, 3]],
  [0, [5, 5], [0, 0]],
  [5, [], []],
])('%s among demands of %j: %j', (limit, demands, shares) => {
  expect(fairShares(limit, demands)).toEqual(shares);
});

test('shares add up to the limit or to all demands, and unmet demands get the largest share, or one less', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.array(fc.nat(500), { maxLength: 20 }), (limit, demands) => {
      const shares = fairShares(limit, demands);
      expect(sum(shares)).toBe(Math.min(limit, sum(demands)));
      const most = Math.max(0, ...shares);
      expect(demands.filter((demand, i) => (shares[i] ?? 0) > demand)).toEqual([]);
      expect(shares.filter((share, i) => share < (demands[i] ?? 0) && share < most - 1)).toEqual([]);
    }),
  );
});
