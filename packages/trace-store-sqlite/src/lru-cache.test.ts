import { expect, test } from '@jest/globals';
import { LruCache } from './lru-cache.ts';

const pieceOf = (bytes: number) => ({ items: 1, json: new Uint8Array(bytes) });

test('pieces are kept up to so many bytes, and the one goes that nobody asked for longest', () => {
  const kept = new LruCache(10_000);
  for (const key of ['a', 'b', 'c']) kept.add(key, pieceOf(2_000));
  const before = kept.bytes;
  expect(before).toBeGreaterThan(6_000);
  const a = kept.get('a');
  expect(a).toBeDefined();
  kept.add('d', pieceOf(2_000));
  expect(['a', 'b', 'c', 'd'].map((key) => kept.get(key)?.items)).toEqual([1, undefined, 1, 1]);
  expect(kept.bytes).toBe(before);
  expect(kept.get('a')).toBe(a);
});

test('a piece beyond the bound is not kept and drives none out, and small ones count too', () => {
  const kept = new LruCache(10_000);
  kept.add('a', pieceOf(2_000));
  kept.add('b', pieceOf(10_000));
  expect([kept.get('a')?.items, kept.get('b')]).toEqual([1, undefined]);
  for (let i = 0; i < 1_000; i += 1) kept.add(`small ${i}`, pieceOf(0));
  const left = Array.from({ length: 1_000 }, (_, i) => kept.get(`small ${i}`)).filter((one) => one !== undefined);
  expect(left.length).toBeLessThan(20);
  expect(kept.bytes).toBeLessThanOrEqual(10_000);
});
