/** Max-min fair shares of a limit: none is above its demand, and each that is below it is as large as any other, but for one where the
 *  rest cannot be divided: then the first in order get it. The shares add up to the limit, or to all demands where these are fewer. */
export function fairShares(limit: number, demands: readonly number[]): number[] {
  const shares = demands.map(() => 0);
  let left = limit;
  const ascending = demands.map((demand, i) => ({ demand, i })).toSorted((a, b) => a.demand - b.demand || b.i - a.i);
  for (const [done, { demand, i }] of ascending.entries()) {
    const share = Math.min(demand, Math.floor(left / (demands.length - done)));
    shares[i] = share;
    left -= share;
  }
  return shares;
}
