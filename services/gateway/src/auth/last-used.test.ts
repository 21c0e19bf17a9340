import { expect, test } from '@jest/globals';
import { keyRow, testHashes } from '../testing/key-rows.ts';
import { KeyRing } from './key-ring.ts';
import { LastUsed } from './last-used.ts';

test('uses are written in batches, once each, again when that failed, and at the end', async () => {
  const ring = new KeyRing(testHashes, []);
  for (let i = 0; i < 700; i += 1) ring.put(keyRow(`k${i}`, `t${i}`));
  const use = (token: string, at: number) => {
    const key = ring.verify(token);
    if (key !== undefined) key.lastUsedAt = at;
  };
  const batches: { id: string; at: number }[][] = [];
  let isBroken = true;
  const store = {
    markUsed: async (uses: readonly { id: string; at: number }[]) => {
      if (isBroken) throw new Error('away');
      batches.push([...uses]);
    },
  };
  {
    await using lastUsed = new LastUsed(ring, store, () => {});
    for (let i = 0; i < 600; i += 1) use(`t${i}`, 5);
    await expect(lastUsed.flush()).rejects.toThrow('away');
    isBroken = false;
    await lastUsed.flush();
    await lastUsed.flush();
    expect(batches.map((batch) => batch.length)).toEqual([500, 100]);
    // The clock was put back, and another key was used in the moment of the last batch.
    use('t698', 3);
    use('t699', 5);
  }
  expect(batches.at(-1)).toEqual([
    { id: 'k698', at: 3 },
    { id: 'k699', at: 5 },
  ]);
});
