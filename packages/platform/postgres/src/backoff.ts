/** The pause before the n-th retry (from 0 on): doubled from `firstMs` up to `maxMs`, and shortened by up to a half at random, so that the
 *  processes of a deployment do not retry simultaneously. `random`: from 0 to 1. */
export function backoffMs(retry: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }, random: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(retry, 30));
  return full * (1 - random / 2);
}
