import { expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { TokenMove } from '@vitrine/gateway-keys/key-store';
import { keyRow, testHashes } from '../../testing/key-rows.ts';
import { KeyRing } from './key-ring.ts';
import { KeyUses, type KeyUsesOptions } from './key-uses.ts';

const usesOf = (
  ring: KeyRing,
  store: Partial<KeyUsesOptions['store']>,
  hashes = testHashes,
  peppers: KeyUsesOptions['peppers'] = { isRecorded: () => true },
) => {
  const nothing = { markUsed: async () => {}, moveTokens: async () => [], recordPeppers: async () => {} };
  return new KeyUses({ ring, store: { ...nothing, ...store }, peppers, configured: hashes.identities, onError: () => {} });
};

test('uses are written in batches, once each, retried after a failure, and flushed at the end', async () => {
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
    await using keyUses = usesOf(ring, store);
    for (let i = 0; i < 600; i += 1) use(`t${i}`, 5);
    await expect(keyUses.flush()).rejects.toThrow('away');
    isBroken = false;
    await keyUses.flush();
    await keyUses.flush();
    expect(batches.map((batch) => batch.length)).toEqual([500, 100]);
    // The clock was set back, and another key was used at the time of the last batch.
    use('t698', 3);
    use('t699', 5);
  }
  expect(batches.at(-1)).toEqual([
    { id: 'k698', at: 3 },
    { id: 'k699', at: 5 },
  ]);
});

test('hashes of used tokens move to the newest pepper with retries, and unrecorded peppers are recorded', async () => {
  const newest = { version: 2, secret: new Secret('q'.repeat(32)) };
  const hashes = new TokenHashes([newest, { version: 1, secret: new Secret('p'.repeat(32)) }]);
  const ring = new KeyRing(hashes, []);
  for (const token of ['used', 'unused']) ring.put(keyRow(token, token));
  const moved: string[] = [];
  const recorded: number[] = [];
  let isBroken = true;
  const store = {
    moveTokens: async (moves: readonly TokenMove[]) => {
      if (isBroken) throw new Error('away');
      moved.push(...moves.map(({ id }) => id));
      return moves.map(({ id, to }) => keyRow(id, id, { ...to, revision: 2 }));
    },
    recordPeppers: async (peppers: readonly PepperIdentity[]) =>
      void recorded.push(...peppers.map(({ pepper_version }) => pepper_version)),
  };
  await using keyUses = usesOf(ring, store, hashes, { isRecorded: (version) => recorded.includes(version) });
  ring.verify('used');
  await expect(keyUses.flush()).rejects.toThrow('away');
  isBroken = false;
  await keyUses.flush();
  await keyUses.flush();
  expect([moved, recorded]).toEqual([['used'], [1]]);
  ring.verify('used');
  await keyUses.flush();
  expect([moved, recorded]).toEqual([['used'], [1, 2]]);
});
