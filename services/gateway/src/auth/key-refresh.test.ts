import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import type { KeyChanges } from '@vitrine/gateway-keys/key-store';
import { keyRow, testHashes } from '../testing/key-rows.ts';
import { KeyRefresh, REFRESH_INTERVAL_MS, STALE_AFTER_MS } from './key-refresh.ts';
import { KeyRing } from './key-ring.ts';

const NOTHING: KeyChanges = { store: 's', revision: 0, active: [], revoked: [] };

/** A store whose answers the test gives, when it wants. */
function answering() {
  const asked: { since: number; answer: (changes: KeyChanges) => void; fail: () => void }[] = [];
  let poke = () => {};
  return {
    asked,
    poke: () => poke(),
    changes: (since: number) => {
      const { promise, resolve, reject } = Promise.withResolvers<KeyChanges>();
      asked.push({ since, answer: resolve, fail: () => reject(new Fault('key_store_unavailable', { say: 'gone' })) });
      return promise;
    },
    watch: (onChange: () => void): Disposable => {
      poke = onChange;
      return { [Symbol.dispose]: () => (poke = () => {}) };
    },
  };
}

let now: number;
let store: ReturnType<typeof answering>;
let ring: KeyRing;
let errors: unknown[];
let refresh: KeyRefresh;
beforeEach(() => {
  now = 1_000;
  store = answering();
  ring = new KeyRing(testHashes, []);
  errors = [];
  refresh = new KeyRefresh({ store, ring, clock: () => now, onError: (error) => errors.push(error) });
});
const answerNext = async (changes: KeyChanges) => {
  const asking = refresh.refresh();
  store.asked.at(-1)?.answer(changes);
  await asking;
};

describe('freshness', () => {
  test('there is none before the first answer', () => {
    expect(refresh.isFresh).toBe(false);
  });

  test('an answer holds for 60 s from its question, however late it came', async () => {
    const asking = refresh.refresh();
    now += 20_000;
    store.asked[0]?.answer(NOTHING);
    await asking;
    now = 1_000 + STALE_AFTER_MS;
    expect(refresh.isFresh).toBe(true);
    now += 1;
    expect(refresh.isFresh).toBe(false);
  });

  test('a failed question makes nothing fresh; the next answer does', async () => {
    await answerNext(NOTHING);
    now += STALE_AFTER_MS + 1;
    const failing = refresh.refresh();
    store.asked.at(-1)?.fail();
    await expect(failing).rejects.toMatchObject({ code: 'key_store_unavailable' });
    expect(refresh.isFresh).toBe(false);
    await answerNext(NOTHING);
    expect(refresh.isFresh).toBe(true);
  });
});

describe('failing', () => {
  test('from a question that was not answered to the next one that is', async () => {
    await answerNext(NOTHING);
    expect(refresh.isFailing).toBe(false);
    const asking = refresh.refresh();
    expect(refresh.isFailing).toBe(false);
    store.asked.at(-1)?.fail();
    await expect(asking).rejects.toThrow();
    expect(refresh.isFailing).toBe(true);
    const again = refresh.refresh();
    expect(refresh.isFailing).toBe(true);
    store.asked.at(-1)?.answer(NOTHING);
    await again;
    expect(refresh.isFailing).toBe(false);
  });

  test('also while a question hangs, once the last answer is too old', async () => {
    await answerNext(NOTHING);
    void refresh.refresh();
    now += STALE_AFTER_MS;
    expect(refresh.isFailing).toBe(false);
    now += 1;
    expect(refresh.isFailing).toBe(true);
  });
});

describe('questions', () => {
  test('go on from the last answer', async () => {
    await answerNext({ store: 's', revision: 3, active: [keyRow('k', 'token')], revoked: [] });
    await answerNext({ store: 's', revision: 4, active: [], revoked: [{ id: 'k', revision: 4 }] });
    expect(store.asked.map(({ since }) => since)).toEqual([0, 3]);
    expect(ring.verify('token')).toBeUndefined();
  });

  test('a store that was put back to an older copy is read anew', async () => {
    await answerNext({ store: 's', revision: 9, active: [keyRow('newer', 'newer', { revision: 9 })], revoked: [] });
    const asking = refresh.refresh();
    store.asked.at(-1)?.answer({ store: 's', revision: 2, active: [], revoked: [] });
    await Promise.resolve();
    await Promise.resolve();
    expect(store.asked.at(-1)?.since).toBe(0);
    store.asked.at(-1)?.answer({ store: 's', revision: 2, active: [keyRow('older', 'older', { revision: 2 })], revoked: [] });
    await asking;
    expect([ring.verify('newer'), ring.verify('older')?.identity.key_id, ring.revision]).toEqual([undefined, 'older', 2]);
  });

  test('another store is read anew, also when it has seen as many changes', async () => {
    await answerNext({ store: 's', revision: 2, active: [keyRow('old', 'old', { revision: 2 })], revoked: [] });
    const asking = refresh.refresh();
    store.asked.at(-1)?.answer({ store: 'other', revision: 2, active: [], revoked: [] });
    await Promise.resolve();
    await Promise.resolve();
    store.asked.at(-1)?.answer({ store: 'other', revision: 2, active: [keyRow('new', 'new', { revision: 2 })], revoked: [] });
    await asking;
    expect([ring.verify('old'), ring.verify('new')?.identity.key_id]).toEqual([undefined, 'new']);
    await answerNext({ store: 'other', revision: 2, active: [], revoked: [] });
    expect(store.asked.map(({ since }) => since)).toEqual([0, 2, 0, 2]);
  });

  test('one is under way at a time, and what happened meanwhile is asked for once more', async () => {
    const first = refresh.refresh();
    void refresh.refresh();
    void refresh.refresh();
    expect(store.asked).toHaveLength(1);
    store.asked[0]?.answer(NOTHING);
    await first;
    await Promise.resolve();
    expect(store.asked).toHaveLength(2);
  });
});

describe('by itself', () => {
  test('it asks every 30 s, when the store tells of a change, and not after its end', async () => {
    jest.useFakeTimers();
    try {
      refresh.start();
      await jest.advanceTimersByTimeAsync(REFRESH_INTERVAL_MS - 1);
      expect(store.asked).toHaveLength(0);
      await jest.advanceTimersByTimeAsync(1);
      expect(store.asked).toHaveLength(1);
      store.asked[0]?.fail();
      await jest.advanceTimersByTimeAsync(0);
      expect(errors).toEqual([expect.objectContaining({ code: 'key_store_unavailable' })]);
      store.poke();
      expect(store.asked).toHaveLength(2);
      store.asked[1]?.answer(NOTHING);
      await jest.advanceTimersByTimeAsync(0);
      refresh[Symbol.dispose]();
      store.poke();
      await jest.advanceTimersByTimeAsync(2 * REFRESH_INTERVAL_MS);
      expect(store.asked).toHaveLength(2);
    } finally {
      jest.useRealTimers();
    }
  });
});
