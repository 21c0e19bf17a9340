import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import type { KeyChanges } from '@vitrine/gateway-keys/key-store';
import { keyRow, testHashes } from '../../testing/key-rows.ts';
import { KeyRefresh, REFRESH_INTERVAL_MS, STALE_AFTER_MS } from './key-refresh.ts';
import { KeyRing } from './key-ring.ts';

const NOTHING: KeyChanges = { store: 's', revision: 0, active: [], revoked: [] };

/** A store whose reads the test resolves. */
function createStore() {
  const reads: { since: number; resolve: (changes: KeyChanges) => void; fail: () => void }[] = [];
  let poke = () => {};
  return {
    reads,
    poke: () => poke(),
    changes: (since: number) => {
      const { promise, resolve, reject } = Promise.withResolvers<KeyChanges>();
      reads.push({ since, resolve, fail: () => reject(new Fault('key_store_unavailable', { say: 'gone' })) });
      return promise;
    },
    watch: (onChange: () => void): Disposable => {
      poke = onChange;
      return { [Symbol.dispose]: () => (poke = () => {}) };
    },
  };
}

let now: number;
let store: ReturnType<typeof createStore>;
let ring: KeyRing;
let errors: unknown[];
let refresh: KeyRefresh;
beforeEach(() => {
  now = 1_000;
  store = createStore();
  ring = new KeyRing(testHashes, []);
  errors = [];
  refresh = new KeyRefresh({
    store,
    ring,
    peppers: { check: async () => {} },
    clock: () => now,
    onError: (error) => errors.push(error),
  });
});
const resolveNext = async (changes: KeyChanges) => {
  const reading = refresh.refresh();
  store.reads.at(-1)?.resolve(changes);
  await reading;
};

describe('freshness', () => {
  test('keys are not trusted before the first read', () => {
    expect(refresh.isFresh).toBe(false);
  });

  test('a read counts for 60 s from its start, however long it took', async () => {
    const reading = refresh.refresh();
    now += 20_000;
    store.reads[0]?.resolve(NOTHING);
    await reading;
    now = 1_000 + STALE_AFTER_MS;
    expect(refresh.isFresh).toBe(true);
    now += 1;
    expect(refresh.isFresh).toBe(false);
  });

  test('a failed read does not count; the next successful one does', async () => {
    await resolveNext(NOTHING);
    now += STALE_AFTER_MS + 1;
    const failing = refresh.refresh();
    store.reads.at(-1)?.fail();
    await expect(failing).rejects.toMatchObject({ code: 'key_store_unavailable' });
    expect(refresh.isFresh).toBe(false);
    await resolveNext(NOTHING);
    expect(refresh.isFresh).toBe(true);
  });
});

describe('failing', () => {
  test('from a failed read to the next successful one', async () => {
    await resolveNext(NOTHING);
    expect(refresh.isFailing).toBe(false);
    const reading = refresh.refresh();
    expect(refresh.isFailing).toBe(false);
    store.reads.at(-1)?.fail();
    await expect(reading).rejects.toThrow();
    expect(refresh.isFailing).toBe(true);
    const again = refresh.refresh();
    expect(refresh.isFailing).toBe(true);
    store.reads.at(-1)?.resolve(NOTHING);
    await again;
    expect(refresh.isFailing).toBe(false);
  });

  test('also while a read hangs, once the last one is too old', async () => {
    await resolveNext(NOTHING);
    void refresh.refresh();
    now += STALE_AFTER_MS;
    expect(refresh.isFailing).toBe(false);
    now += 1;
    expect(refresh.isFailing).toBe(true);
  });
});

describe('reads', () => {
  test('continue from the last revision', async () => {
    await resolveNext({ store: 's', revision: 3, active: [keyRow('k', 'token')], revoked: [] });
    await resolveNext({ store: 's', revision: 4, active: [], revoked: [{ id: 'k', revision: 4 }] });
    expect(store.reads.map(({ since }) => since)).toEqual([0, 3]);
    expect(ring.verify('token')).toBeUndefined();
  });

  test('a store that was restored from an older copy is read from the start', async () => {
    await resolveNext({ store: 's', revision: 9, active: [keyRow('newer', 'newer', { revision: 9 })], revoked: [] });
    const reading = refresh.refresh();
    store.reads.at(-1)?.resolve({ store: 's', revision: 2, active: [], revoked: [] });
    await Promise.resolve();
    await Promise.resolve();
    expect(store.reads.at(-1)?.since).toBe(0);
    store.reads.at(-1)?.resolve({ store: 's', revision: 2, active: [keyRow('older', 'older', { revision: 2 })], revoked: [] });
    await reading;
    expect([ring.verify('newer'), ring.verify('older')?.identity.key_id, ring.revision]).toEqual([undefined, 'older', 2]);
  });

  test('another store is read from the start, also when it has as many changes', async () => {
    await resolveNext({ store: 's', revision: 2, active: [keyRow('old', 'old', { revision: 2 })], revoked: [] });
    const reading = refresh.refresh();
    store.reads.at(-1)?.resolve({ store: 'other', revision: 2, active: [], revoked: [] });
    await Promise.resolve();
    await Promise.resolve();
    store.reads.at(-1)?.resolve({ store: 'other', revision: 2, active: [keyRow('new', 'new', { revision: 2 })], revoked: [] });
    await reading;
    expect([ring.verify('old'), ring.verify('new')?.identity.key_id]).toEqual([undefined, 'new']);
    await resolveNext({ store: 'other', revision: 2, active: [], revoked: [] });
    expect(store.reads.map(({ since }) => since)).toEqual([0, 2, 0, 2]);
  });

  test('one runs at a time, and calls in the meantime cause one more', async () => {
    const first = refresh.refresh();
    void refresh.refresh();
    void refresh.refresh();
    expect(store.reads).toHaveLength(1);
    store.reads[0]?.resolve(NOTHING);
    await first;
    await Promise.resolve();
    expect(store.reads).toHaveLength(2);
  });
});

describe('once started', () => {
  test('it reads every 30 s and when the store notifies of a change, and not after its disposal', async () => {
    jest.useFakeTimers();
    try {
      refresh.start();
      await jest.advanceTimersByTimeAsync(REFRESH_INTERVAL_MS - 1);
      expect(store.reads).toHaveLength(0);
      await jest.advanceTimersByTimeAsync(1);
      expect(store.reads).toHaveLength(1);
      store.reads[0]?.fail();
      await jest.advanceTimersByTimeAsync(0);
      expect(errors).toEqual([expect.objectContaining({ code: 'key_store_unavailable' })]);
      store.poke();
      expect(store.reads).toHaveLength(2);
      store.reads[1]?.resolve(NOTHING);
      await jest.advanceTimersByTimeAsync(0);
      refresh[Symbol.dispose]();
      store.poke();
      await jest.advanceTimersByTimeAsync(2 * REFRESH_INTERVAL_MS);
      expect(store.reads).toHaveLength(2);
    } finally {
      jest.useRealTimers();
    }
  });
});
