import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { NewTokenHash } from '@vitrine/credentials/token-hashes';
import type { KeyPlace, OpenedKeyStore } from './key-place.ts';
import { A, auditEvent, B, hashOf, newKey, storedHashOf, T0 } from './key-rows.ts';

const identityOf = ({ pepper_version, pepper_fingerprint }: NewTokenHash) => ({ pepper_version, pepper_fingerprint });

/** The promises of a `KeyStore` about the peppers of its hashes. */
export function testPeppers(openPlace: () => Promise<KeyPlace>): void {
  let place: KeyPlace;
  let store: OpenedKeyStore;
  beforeEach(async () => {
    place = await openPlace();
    store = place.open();
  });
  afterEach(async () => {
    await store[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });
  /** Creates a key; the first hash is its own. */
  const create = async (id: string, ...known: [NewTokenHash, ...NewTokenHash[]]) =>
    await store.create(newKey(id, known[0]), known, auditEvent({ target: id }));

  describe('peppers', () => {
    test('are recorded with the first hash, and counted by the tokens that are still accepted', async () => {
      expect(await store.storedPeppers()).toEqual({ recorded: [], used: [] });
      await create('k', hashOf('token', 1), hashOf('token', 2));
      await create('revoked', hashOf('another', 1), hashOf('another', 2));
      await store.update('revoked', A, { revoked_at: T0 }, auditEvent());
      await using other = place.open();
      expect(await other.storedPeppers()).toEqual({
        recorded: [identityOf(hashOf('', 1)), identityOf(hashOf('', 2))],
        used: [{ pepper_version: 1, hashes: 1 }],
      });
    });

    test('with another secret under a recorded version store nothing and change no record', async () => {
      await create('k', hashOf('token'));
      const before = await store.storedPeppers();
      const problem = { kind: 'different', pepper_version: 1, hashes: 1 };
      const wrong = hashOf('next', 1, 'b');
      expect(await create('l', wrong)).toEqual({ kind: 'pepper_mismatch', problem });
      expect(await store.update('k', A, { token: [wrong] }, auditEvent())).toEqual({ kind: 'pepper_mismatch', problem });
      expect(await store.keepTokens([{ id: 'file', known: [wrong] }])).toEqual([]);
      expect(await store.moveTokens([{ id: 'k', from: hashOf('token'), to: wrong }])).toEqual([]);
      await store.recordPeppers([wrong]);
      expect(await store.storedPeppers()).toEqual(before);
      expect(await create('l', hashOf('next'))).toMatchObject({ kind: 'created' });
    });

    test('that lack that of a key cannot create keys, but can rotate this one', async () => {
      await create('k', hashOf('token'));
      const problem = { kind: 'missing', pepper_version: 1, hashes: 1 };
      expect(await create('l', hashOf('other', 2))).toEqual({ kind: 'pepper_mismatch', problem });
      expect(await store.update('k', A, { token: [hashOf('next', 2)] }, auditEvent())).toMatchObject({ kind: 'updated' });
      expect(await create('l', hashOf('other', 2))).toMatchObject({ kind: 'created' });
    });

    test('of unrecorded hashes are recorded when they verify a token', async () => {
      await store.recordPeppers([hashOf('', 3)]);
      expect((await store.storedPeppers()).recorded).toEqual([identityOf(hashOf('', 3))]);
    });
  });

  describe('a token that moves to another pepper', () => {
    const move = (id: string, token: string) => ({ id, from: storedHashOf(token, 1), to: hashOf(token, 2) });

    test('is a change that other processes see, and stays reserved under both', async () => {
      await create('k', hashOf('token', 1));
      const { revision } = await store.changes(0);
      const [moved] = await store.moveTokens([move('k', 'token')]);
      expect(moved).toMatchObject({ id: 'k', ...storedHashOf('token', 2) });
      const { active } = await store.changes(revision);
      expect(active).toEqual([moved]);
      expect((await store.storedPeppers()).used).toEqual([{ pepper_version: 2, hashes: 1 }]);
      for (const version of [1, 2]) expect(await create('other', hashOf('token', version))).toEqual({ kind: 'token_taken' });
      await store.update('k', A, { revoked_at: T0 }, auditEvent());
      for (const version of [1, 2]) expect(await create('other', hashOf('token', version))).toEqual({ kind: 'token_taken' });
    });

    test('also moves when it was stored under both at its creation', async () => {
      await create('k', hashOf('token', 1), hashOf('token', 2));
      expect(await store.moveTokens([move('k', 'token')])).toMatchObject([{ id: 'k', ...storedHashOf('token', 2) }]);
    });

    test('does not move when it was replaced, revoked or moved in the meantime, or another key has it', async () => {
      await create('rotated', hashOf('one', 1), hashOf('one', 2));
      await store.update('rotated', A, { token: [hashOf('two', 1), hashOf('two', 2)] }, auditEvent());
      await create('revoked', hashOf('three', 1), hashOf('three', 2));
      await store.update('revoked', A, { revoked_at: T0 }, auditEvent());
      await create('moved', hashOf('four', 1), hashOf('four', 2));
      await store.moveTokens([move('moved', 'four')]);
      await create('held', hashOf('five', 1));
      await store.keepTokens([{ id: 'file', known: [hashOf('five', 2), hashOf('file', 1)] }]);
      const before = await store.changes(0);
      const moves = [move('rotated', 'one'), move('revoked', 'three'), move('moved', 'four'), move('held', 'five')];
      expect(await store.moveTokens(moves)).toEqual([]);
      expect(await store.changes(0)).toEqual(before);
    });

    test('moves once when two processes move many at once', async () => {
      await using other = place.open();
      const ids = Array.from({ length: 30 }, (_, i) => `k${i}`);
      for (const id of ids) await create(id, hashOf(id, 1), hashOf(id, 2));
      const moves = ids.map((id) => move(id, id));
      const [mine, theirs] = await Promise.all([store.moveTokens(moves), other.moveTokens(moves.toReversed())]);
      expect([...mine, ...theirs].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      const rows = await store.list(undefined);
      expect(new Set(rows.map(({ revision }) => revision)).size).toBe(ids.length);
      expect(rows.every(({ pepper_version }) => pepper_version === 2)).toBe(true);
    });

    test('keeps its tenant and is not accessible to another', async () => {
      await create('k', hashOf('token', 1));
      await store.moveTokens([move('k', 'token')]);
      expect(await store.find('k', B)).toBeUndefined();
      expect(await store.find('k', A)).toMatchObject({ id: 'k', ...A });
    });
  });
}
