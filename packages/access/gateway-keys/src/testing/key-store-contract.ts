import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import fc from 'fast-check';
import type { NewTokenHash } from '@vitrine/credentials/token-hashes';
import type { KeyBounds, KeyStore, KeyUpdate, NewKey } from '../key-store.ts';
import type { KeyPlace, OpenedKeyStore } from './key-place.ts';
import { A, auditEvent, B, hashOf, newKey, storedHashOf, T0 } from './key-rows.ts';

const create = (store: KeyStore, id: string, fields: Partial<NewKey & NewTokenHash> = {}) => {
  const key = newKey(id, fields);
  return store.create(key, [key], auditEvent({ target: id }));
};
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** The promises of `KeyStore`. */
export function testKeyStore(openPlace: (bounds?: KeyBounds) => Promise<KeyPlace>): void {
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

  describe('keys', () => {
    test('a key is read as it was created, also by another process', async () => {
      const { pepper_fingerprint, ...full } = newKey('full', {
        name: 'n',
        description: 'd',
        permissions: ['keys:manage'],
        plan: 'gold',
        managed_by: 'operator',
        managed_resource: 'GatewayKey team-a/ci',
      });
      const row = { ...full, last_used_at: undefined, revision: expect.any(Number) };
      expect(await store.create(full, [{ ...full, pepper_fingerprint }], auditEvent())).toEqual({ kind: 'created', row });
      await using other = place.open();
      expect(await other.find('full', A)).toEqual(row);
    });

    test('an update sets its columns and no others, also for another process', async () => {
      await create(store, 'k', { name: 'before', description: 'd', plan: 'gold' });
      const before = await store.find('k', A);
      const changes: KeyUpdate = { name: 'after', role: 'viewer', permissions: ['keys:manage'], plan: undefined };
      const outcome = await store.update('k', A, changes, auditEvent());
      const row = { ...before, ...changes, revision: expect.any(Number) };
      expect(outcome).toEqual({ kind: 'updated', row });
      await using other = place.open();
      expect(await other.find('k', A)).toEqual(row);
    });

    test('active keys are listed by created_at, then id', async () => {
      await create(store, 'z', { created_at: T0 });
      await create(store, 'b', { created_at: T0 + 1 });
      await create(store, 'a', { created_at: T0 + 1 });
      await create(store, 'gone', { created_at: T0 });
      await store.update('gone', A, { revoked_at: T0 }, auditEvent());
      expect(ids(await store.list(A))).toEqual(['z', 'a', 'b']);
    });

    test('a store is full at its bound, and has room again after a revocation', async () => {
      await using small = await openPlace({ maxActiveKeys: 2 });
      await using full = small.open();
      await create(full, 'one');
      await create(full, 'two');
      expect(await create(full, 'three')).toEqual({ kind: 'full', maxActiveKeys: 2 });
      await full.update('one', A, { revoked_at: T0 }, auditEvent());
      expect(await create(full, 'three')).toMatchObject({ kind: 'created' });
    });

    test('last_used_at only goes forward', async () => {
      await create(store, 'k');
      await store.markUsed([{ id: 'k', at: T0 + 5 }]);
      await store.markUsed([
        { id: 'k', at: T0 + 3 },
        { id: 'none', at: T0 },
      ]);
      expect((await store.find('k', A))?.last_used_at).toBe(T0 + 5);
    });
  });

  describe('ids and tokens', () => {
    test('are reserved forever, also those of a revoked key, also against another tenant', async () => {
      await create(store, 'once');
      await store.update('once', A, { revoked_at: T0 }, auditEvent());
      expect(await create(store, 'once', { ...hashOf('another token') })).toEqual({ kind: 'id_taken' });
      expect(await create(store, 'once', { ...B, ...hashOf('another token') })).toEqual({ kind: 'id_taken' });
      expect(await create(store, 'twice', { ...hashOf('token of once') })).toEqual({ kind: 'token_taken' });
      expect(await store.list(undefined)).toEqual([]);
    });

    test('a replaced token stays reserved for the same key, the same tenant and any other', async () => {
      await create(store, 'k', hashOf('first'));
      for (const next of ['second', 'third'])
        expect(await store.update('k', undefined, { token: [hashOf(next)] }, auditEvent())).toMatchObject({ kind: 'updated' });
      for (const old of ['first', 'second']) {
        expect(await create(store, 'same-tenant', hashOf(old))).toEqual({ kind: 'token_taken' });
        expect(await create(store, 'other-tenant', { ...B, ...hashOf(old) })).toEqual({ kind: 'token_taken' });
        expect(await store.update('k', undefined, { token: [hashOf(old)] }, auditEvent())).toEqual({ kind: 'token_taken' });
      }
      await store.update('k', A, { revoked_at: T0 }, auditEvent());
      await using other = place.open();
      for (const old of ['first', 'second', 'third'])
        expect(await create(other, 'later', { ...B, ...hashOf(old) })).toEqual({ kind: 'token_taken' });
    });

    test('a token is found by its hash under an older pepper, also by a process with only that one', async () => {
      await create(store, 'old', hashOf('token', 1));
      const rotated = await store.update('old', A, { token: [hashOf('next', 2), hashOf('next', 1)] }, auditEvent());
      expect(rotated.kind).toBe('updated');
      const again = newKey('new', hashOf('token', 2));
      expect(await store.create(again, [again, hashOf('token', 1)], auditEvent())).toEqual({ kind: 'token_taken' });
      expect(await create(store, 'of an older process', hashOf('next', 1))).toEqual({ kind: 'token_taken' });
    });

    test('a token that differs in case or by a character is another token', async () => {
      await create(store, 'k', hashOf('Token'));
      const others = [await create(store, 'l', hashOf('token')), await create(store, 'm', hashOf('Token~'))];
      expect(others.map(({ kind }) => kind)).toEqual(['created', 'created']);
    });

    test('only one of two processes that register a token at once gets it', async () => {
      await using other = place.open();
      await Promise.all([store.list(undefined), other.list(undefined)]);
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          create(i % 2 === 0 ? store : other, `k${i}`, { ...(i % 2 === 0 ? A : B), ...hashOf('wanted by all') }),
        ),
      );
      expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['created', ...Array<string>(39).fill('token_taken')]);
    });

    test('a rotation ends the old token, and rejects a token in use or the present one', async () => {
      await create(store, 'k');
      await create(store, 'other');
      const rotate = (token: string) => store.update('k', A, { token: [hashOf(token)] }, auditEvent());
      expect(await rotate('token of other')).toEqual({ kind: 'token_taken' });
      expect(await rotate('token of k')).toEqual({ kind: 'token_taken' });
      expect(await rotate('new')).toMatchObject({ kind: 'updated', row: { ...storedHashOf('new'), id: 'k' } });
      expect((await store.find('k', A))?.token_mac).toEqual(hashOf('new').token_mac);
    });

    test('tokens of keys outside the store are reserved, and those of other keys are reported', async () => {
      await create(store, 'k', hashOf('stored'));
      const keys = [
        { id: 'file-1', known: [hashOf('stored')] },
        { id: 'file-2', known: [hashOf('in the file')] },
      ];
      expect(await store.keepTokens(keys)).toEqual(['file-1']);
      expect(await create(store, 'l', hashOf('in the file'))).toEqual({ kind: 'token_taken' });
      expect(await store.keepTokens(keys)).toEqual(['file-1']);
    });
  });

  describe('changes', () => {
    test('from revision 0 they are the active keys, and afterwards the changes since', async () => {
      for (const id of ['a', 'b', 'c']) await create(store, id);
      await store.update('a', A, { revoked_at: T0 }, auditEvent());
      const first = await store.changes(0);
      expect([ids(first.active).toSorted(), first.revoked]).toEqual([['b', 'c'], []]);
      await store.update('b', A, { token: [hashOf('new')] }, auditEvent());
      await store.update('c', A, { revoked_at: T0 }, auditEvent());
      const next = await store.changes(first.revision);
      expect([ids(next.active), ids(next.revoked), next.store]).toEqual([['b'], ['c'], first.store]);
      expect(await store.changes(next.revision)).toMatchObject({ revision: next.revision, active: [], revoked: [] });
    });

    test('a use is not a change', async () => {
      await create(store, 'a');
      const { revision } = await store.changes(0);
      await store.markUsed([{ id: 'a', at: T0 }]);
      expect(await store.changes(revision)).toMatchObject({ revision, active: [], revoked: [] });
    });

    test('of two concurrent writers are all seen by a third process that follows', async () => {
      await using one = place.open();
      await using two = place.open();
      const write = async (writer: KeyStore, name: string) => {
        for (let i = 0; i < 30; i += 1) {
          await create(writer, `${name}${i}`);
          if (i % 3 === 1) await writer.update(`${name}${i}`, A, { token: [hashOf(`next of ${name}${i}`)] }, auditEvent());
          if (i % 3 === 2) await writer.update(`${name}${i - 1}`, A, { revoked_at: T0 }, auditEvent());
        }
      };
      const seen = new Map<string, { readonly revision: number; readonly token: string | undefined }>();
      let revision = 0;
      const follow = async () => {
        const changes = await store.changes(revision);
        expect(changes.revision).toBeGreaterThanOrEqual(revision);
        for (const { id, revision: at, token_mac } of changes.active)
          if (at > (seen.get(id)?.revision ?? 0)) seen.set(id, { revision: at, token: textOf(token_mac) });
        for (const { id, revision: at } of changes.revoked)
          if (at > (seen.get(id)?.revision ?? 0)) seen.set(id, { revision: at, token: undefined });
        revision = changes.revision;
      };
      const writers = { writing: 2 };
      const untilWritten = ['a', 'b'].map((name, i) => write(i === 0 ? one : two, name).finally(() => (writers.writing -= 1)));
      while (writers.writing > 0) await follow();
      await Promise.all(untilWritten);
      await follow();
      const active = [...seen].filter(([, { token }]) => token !== undefined).map(([id, { token }]) => [id, token]);
      const stored = (await store.list(undefined)).map(({ id, token_mac }) => [id, textOf(token_mac)]);
      expect(new Map(active as [string, string][])).toEqual(new Map(stored as [string, string][]));
      expect(stored).toHaveLength(40);
    });

    test('of another process are notified, but own ones are not', async () => {
      await using other = place.open();
      let notified = 0;
      await create(store, 'own');
      using _watching = store.watch(() => (notified += 1));
      // The watch has already read the present version, because calls are in order.
      await create(store, 'second');
      expect(notified).toBe(0);
      const { revision } = await store.changes(0);
      const revoked = await other.update('own', undefined, { revoked_at: T0 }, auditEvent());
      await waitUntil(() => notified === 1, { what: 'the change of the other process' });
      const changes = await store.changes(revision);
      expect([revoked.kind, ids(changes.revoked)]).toEqual(['updated', ['own']]);
    });
  });
}

/** `numRuns`: places to open. */
export function testTenantIsolation(openPlace: () => Promise<KeyPlace>, numRuns: number): void {
  test('no tenant ever sees or changes a row of another', async () => {
    const tenant = fc.constantFrom(A, B, { org_id: 'a', workspace_id: 'v' });
    const id = fc.constantFrom('k1', 'k2', 'k3', 'k4');
    const token = fc.constantFrom('t1', 't2', 't3', 't4', 't5');
    const step = fc.record({ kind: fc.constantFrom('create', 'rotate', 'revoke'), tenant, id, token });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        await using ownPlace = await openPlace();
        await using own = ownPlace.open();
        // The expected state: tenant, token, and whether the key is active, by id.
        const owners = new Map<string, { tenant: typeof A; token: string; isActive: boolean }>();
        const tokens = new Set<string>();
        for (const { kind, tenant: actor, id: target, token: chosen } of steps) {
          const known = owners.get(target);
          const isOwn = known?.tenant === actor && known.isActive;
          const event = auditEvent({ ...actor, target });
          if (kind === 'create') {
            const expected = known !== undefined ? 'id_taken' : tokens.has(chosen) ? 'token_taken' : 'created';
            expect((await create(own, target, { ...actor, ...hashOf(chosen) })).kind).toBe(expected);
            if (expected === 'created') owners.set(target, { tenant: actor, token: chosen, isActive: true });
          } else if (kind === 'rotate') {
            const expected = !isOwn ? 'not_found' : tokens.has(chosen) ? 'token_taken' : 'updated';
            expect((await own.update(target, actor, { token: [hashOf(chosen)] }, event)).kind).toBe(expected);
            if (expected === 'updated' && known !== undefined) known.token = chosen;
          } else {
            expect((await own.update(target, actor, { revoked_at: T0 }, event)).kind).toBe(isOwn ? 'updated' : 'not_found');
            if (isOwn && known !== undefined) known.isActive = false;
          }
          // Never removed: a token that a key ever had is reserved forever.
          for (const one of owners.values()) tokens.add(one.token);
          for (const reader of [A, B]) {
            const visible = [...owners].filter(([, one]) => one.isActive && one.tenant === reader);
            expect(new Map((await own.list(reader)).map((row) => [row.id, textOf(row.token_mac)]))).toEqual(
              new Map(visible.map(([one, { token: text }]) => [one, textOf(hashOf(text).token_mac)])),
            );
            expect((await own.find(target, reader))?.id).toBe(visible.some(([one]) => one === target) ? target : undefined);
          }
        }
      }),
      { numRuns },
    );
  });
}

function textOf(mac: Uint8Array): string {
  return Buffer.from(mac).toString('hex');
}
