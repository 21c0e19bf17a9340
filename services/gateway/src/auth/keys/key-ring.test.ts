import { describe, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { KeyRow } from '@vitrine/gateway-keys/key-row';
import type { TokenMove } from '@vitrine/gateway-keys/key-store';
import { keyRow, testHashes } from '../../testing/key-rows.ts';
import { KeyRing } from './key-ring.ts';
import { KeyUses, type KeyUsesOptions } from './key-uses.ts';

const ringOf = (...rows: KeyRow[]) => {
  const ring = new KeyRing(testHashes, []);
  for (const row of rows) ring.put(row);
  return ring;
};
const keyIdOf = (ring: KeyRing, token: string) => ring.verify(token)?.identity.key_id;

test('a token returns its key with identity and scope; anything else returns no key', () => {
  const ring = ringOf(keyRow('k', 'token', { permissions: ['keys:manage'], plan: 'gold' }));
  const key = ring.verify('token');
  expect(key?.identity).toEqual({
    org_id: 'acme',
    workspace_id: 'search',
    key_id: 'k',
    role: 'developer',
    permissions: new Set(['proxy:write', 'analytics:read', 'keys:manage']),
    plan: 'gold',
  });
  expect(key?.scope).toEqual({
    org_id: 'acme',
    workspace_id: 'search',
    gateway_key_id: 'k',
    role: 'developer',
  });
  expect(['Token', 'token ', '', 'k'].map((token) => ring.verify(token))).toEqual(Array(4).fill(undefined));
});

describe('of two changes of a key the later applies', () => {
  test('rotated: the new token is accepted and the old one is not, also when the older row comes last', () => {
    const ring = ringOf(keyRow('k', 'new', { revision: 2 }), keyRow('k', 'old', { revision: 1 }));
    expect([keyIdOf(ring, 'new'), keyIdOf(ring, 'old')]).toEqual(['k', undefined]);
  });

  test('changes that were read earlier do not bring back a key that was revoked here', () => {
    const ring = ringOf(keyRow('k', 'token', { revision: 1 }));
    ring.remove('k', 2);
    ring.apply({ revision: 1, active: [keyRow('k', 'token', { revision: 1 })], revoked: [] });
    expect(keyIdOf(ring, 'token')).toBeUndefined();
  });

  test('a token that has moved to another key returns that key, in whatever order the changes arrive', () => {
    const before = [keyRow('a', 't1', { revision: 1 }), keyRow('b', 't2', { revision: 2 })];
    const after = [keyRow('a', 't3', { revision: 5 }), keyRow('b', 't1', { revision: 4 })];
    for (const active of [after, after.toReversed()]) {
      const ring = ringOf(...before);
      ring.apply({ revision: 5, active, revoked: [] });
      expect(['t1', 't2', 't3'].map((token) => keyIdOf(ring, token))).toEqual(['b', undefined, 'a']);
    }
  });
});

test('changes are applied: new, rotated and revoked', () => {
  const ring = ringOf();
  ring.apply({ revision: 2, active: [keyRow('a', 'ta'), keyRow('b', 'tb', { revision: 2 })], revoked: [] });
  ring.apply({
    revision: 4,
    active: [keyRow('a', 'ta2', { revision: 3 })],
    revoked: [{ id: 'b', revision: 4 }],
  });
  expect(['ta', 'ta2', 'tb'].map((token) => keyIdOf(ring, token))).toEqual([undefined, 'a', undefined]);
  expect([ring.revision, ring.size]).toEqual([4, 1]);
});

test('changes committed late with lower revisions are applied; changes seen before have no effect', () => {
  const ring = ringOf();
  const early = keyRow('early', 'te', { revision: 3 });
  ring.apply({ revision: 1, active: [keyRow('a', 'ta'), early], revoked: [{ id: 'x', revision: 4 }] });
  const seen = ring.verify('te');
  ring.apply({ revision: 4, active: [keyRow('late', 'tl', { revision: 2 }), early], revoked: [{ id: 'x', revision: 4 }] });
  expect(['ta', 'te', 'tl'].map((token) => keyIdOf(ring, token))).toEqual(['a', 'early', 'late']);
  expect(seen !== undefined && ring.holds(seen)).toBe(true);
});

test('a key created here and revoked elsewhere before the first read is removed; a later one stays', () => {
  const ring = ringOf(keyRow('gone', 'tg', { revision: 1 }), keyRow('later', 'tl', { revision: 3 }));
  ring.apply({ revision: 2, active: [], revoked: [] });
  expect([keyIdOf(ring, 'tg'), keyIdOf(ring, 'tl')]).toEqual([undefined, 'later']);
});

test('keys of the file take precedence over keys of the store with the same id or token, and nothing removes them', () => {
  const ring = new KeyRing(testHashes, [keyRow('fixed', 'token', { role: 'owner' })]);
  ring.put(keyRow('fixed', 'other', { revision: 9 }));
  ring.put(keyRow('thief', 'token', { revision: 9 }));
  ring.remove('fixed', 10);
  ring.clear();
  expect(ring.verify('token')).toMatchObject({ isFixed: true, identity: { key_id: 'fixed', role: 'owner' } });
  expect(ring.verify('other')).toBeUndefined();
});

describe('a token that is hashed with an older pepper', () => {
  const second = { version: 2, secret: new Secret('q'.repeat(32)) };
  const hashes = new TokenHashes([second, { version: 1, secret: new Secret('p'.repeat(32)) }]);

  test('is accepted while that pepper is configured', () => {
    const newest = new KeyRing(new TokenHashes([second]), []);
    const both = new KeyRing(hashes, []);
    for (const ring of [both, newest]) ring.put(keyRow('k', 'token'));
    expect([keyIdOf(both, 'token'), keyIdOf(newest, 'token')]).toEqual(['k', undefined]);
    expect([both.hasVerifiedWith(1), both.hasVerifiedWith(2), newest.hasVerifiedWith(1)]).toEqual([true, false, false]);
  });

  test('is moved to the newest pepper after its first use, and accepted all the time', () => {
    const ring = new KeyRing(hashes, [keyRow('fixed', 'of the file')]);
    const row = keyRow('k', 'token', { next: testHashes.hash('next'), previous: { ...testHashes.hash('old'), until: 1 } });
    ring.put(row);
    ring.put(keyRow('unused', 'unused'));
    expect(ring.tokenMoves()).toEqual([]);
    for (const token of ['token', 'token', 'of the file', 'old', 'none']) ring.verify(token);
    const { pepper_version, token_mac } = row;
    const moves = [{ id: 'k', from: { pepper_version, token_mac }, to: hashes.hash('token') }];
    expect(ring.tokenMoves()).toEqual(moves);
    ring.put({ ...row, ...hashes.hash('token'), revision: 2 });
    expect([ring.tokenMoves(), keyIdOf(ring, 'token')]).toEqual([[], 'k']);
    ring.verify('token');
    expect([ring.tokenMoves(), ring.hasVerifiedWith(2)]).toEqual([[], true]);
  });

  test('that could not be moved is tried again when it is used again', () => {
    const ring = new KeyRing(hashes, []);
    ring.put(keyRow('k', 'token'));
    ring.verify('token');
    ring.movesStored(ring.tokenMoves());
    expect(ring.tokenMoves()).toEqual([]);
    ring.verify('token');
    expect(ring.tokenMoves()).toHaveLength(1);
  });
});

test('a use is returned until it is stored, and only for keys of the store', () => {
  const ring = new KeyRing(testHashes, [keyRow('fixed', 'tf')]);
  ring.put(keyRow('k', 'tk'));
  for (const token of ['tf', 'tk']) {
    const key = ring.verify(token);
    if (key !== undefined) key.lastUsedAt = 5;
  }
  const uses = ring.unstoredUses();
  expect([uses, ring.lastUsedAt('fixed')]).toEqual([[{ id: 'k', at: 5 }], 5]);
  ring.usesStored([...uses, { id: 'gone', at: 5 }]);
  ring.put(keyRow('k', 'rotated', { revision: 2 }));
  expect(ring.unstoredUses()).toEqual([]);
});

describe('of a key whose token is rotated', () => {
  const row = keyRow('k', 'current', {
    next: testHashes.hash('next'),
    previous: { ...testHashes.hash('previous'), until: 1_000 },
  });

  test('next, current and previous token are accepted, the previous one until its time', () => {
    let now = 999;
    const ring = new KeyRing(testHashes, [], () => now);
    ring.put(row);
    expect(['next', 'current', 'previous'].map((token) => keyIdOf(ring, token))).toEqual(['k', 'k', 'k']);
    now = 1_000;
    expect(['next', 'current', 'previous'].map((token) => keyIdOf(ring, token))).toEqual(['k', 'k', undefined]);
  });

  test('no connection may cache the previous token, and the next one it may', () => {
    const ring = new KeyRing(testHashes, [], () => 0);
    ring.put(row);
    const isHeld = (token: string) => ring.holds(ring.verify(token) as NonNullable<ReturnType<KeyRing['verify']>>);
    expect(['next', 'current', 'previous'].map(isHeld)).toEqual([true, true, false]);
  });

  test('a later change replaces all tokens, and a revocation removes them', () => {
    const ring = new KeyRing(testHashes, [], () => 0);
    ring.put(row);
    ring.put(keyRow('k', 'next', { revision: 2, previous: { ...testHashes.hash('current'), until: 1_000 } }));
    expect(['next', 'current', 'previous'].map((token) => keyIdOf(ring, token))).toEqual(['k', 'k', undefined]);
    ring.remove('k', 3);
    expect(['next', 'current', 'previous'].map((token) => keyIdOf(ring, token))).toEqual([undefined, undefined, undefined]);
  });
});

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
