import { expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { ChunkTimes } from './chunk-times.ts';

/** Chunks as their lengths, and the milliseconds since the chunk before. */
type Chunk = readonly [bytes: number, gapMs: number];

function pairsOf(chunks: readonly Chunk[]): (readonly [number, number])[] {
  const times = new ChunkTimes();
  let [offset, ms] = [0, 0];
  for (const [bytes, gapMs] of chunks) {
    times.add(offset, (ms += gapMs));
    offset += bytes;
  }
  return times.pairs();
}

/** What would be recorded without a bound: the chunks that are the first of their millisecond. */
function allPairsOf(chunks: readonly Chunk[]): (readonly [number, number])[] {
  let [offset, ms] = [0, 0];
  const all: (readonly [number, number])[] = [];
  for (const [bytes, gapMs] of chunks) {
    ms += gapMs;
    if (all.at(-1)?.[1] !== ms) all.push([offset, ms]);
    offset += bytes;
  }
  return all;
}

const gap = fc.oneof(fc.nat(3), fc.nat(50));
const chunk = fc.tuple(fc.integer({ min: 1, max: 100 }), gap);
/** Chunks that repeat, with pauses between some of them. */
const stream = fc
  .record({
    pattern: fc.array(chunk, { minLength: 1, maxLength: 20 }),
    length: fc.oneof(fc.nat(300), fc.nat(3_000)),
    pauses: fc.array(fc.tuple(fc.nat(3_000), fc.nat(1_000)), { maxLength: 5 }),
  })
  .map(({ pattern, length, pauses }): Chunk[] => {
    const chunks = Array.from({ length }, (_, at): Chunk => pattern[at % pattern.length] ?? [1, 0]);
    for (const [at, ms] of pauses) if (at < length) chunks[at] = [1, ms];
    return chunks;
  });

test('any stream has at most 256 pairs, in order, with its first, its last and both ends of its longest gap', () => {
  fc.assert(
    fc.property(stream, (chunks) => {
      const all = allPairsOf(chunks);
      const pairs = pairsOf(chunks);
      expect(pairs.length).toBeLessThanOrEqual(256);
      for (const [at, [offset, ms]] of pairs.entries()) {
        const [previousOffset, previousMs] = pairs[at - 1] ?? [-1, -1];
        expect(offset > previousOffset && ms > previousMs).toBe(true);
      }
      const recorded = new Set(all.map(String));
      expect(pairs.filter((pair) => !recorded.has(String(pair)))).toEqual([]);
      expect([pairs[0], pairs.at(-1)]).toEqual([all[0], all.at(-1)]);
      const gaps = all.slice(1).map(([, ms], at) => ms - (all[at]?.[1] ?? 0));
      const longest = gaps.indexOf(Math.max(...gaps));
      const kept = new Set(pairs.map(String));
      expect(all.slice(longest, longest + 2).filter((pair) => !kept.has(String(pair)))).toEqual([]);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test.each([1, 2, 253])('%i chunks are all kept', (count) => {
  const chunks = Array.from({ length: count }, (): Chunk => [10, 5]);
  expect(pairsOf(chunks)).toEqual(allPairsOf(chunks));
});

test.each([254, 1_000, 100_000])('of %i chunks those that are kept are spread evenly', (count) => {
  const pairs = pairsOf(Array.from({ length: count }, (): Chunk => [10, 5]));
  const gaps = pairs.slice(1).map(([, ms], at) => ms - (pairs[at]?.[1] ?? 0));
  expect(pairs.length).toBeGreaterThan(126);
  expect(Math.max(...gaps)).toBeLessThanOrEqual((5 * count) / 126);
});

test('chunks of one millisecond are recorded as the first of them', () => {
  expect(
    pairsOf([
      [10, 3],
      [10, 0],
      [10, 0],
      [10, 1],
      [10, 0],
    ]),
  ).toEqual([
    [0, 3],
    [30, 4],
  ]);
});

test('a stream without chunks has no pairs', () => {
  expect(pairsOf([])).toEqual([]);
});
