import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BodyChunks } from './body-chunks.ts';

const collected = (chunks: readonly Buffer[]) => {
  const body = new BodyChunks();
  for (const chunk of chunks) body.push(chunk);
  return body;
};

test('a body is the same whatever its chunks are', () => {
  const chunk = fc.integer({ min: 0, max: 3_000 }).map((length) => Buffer.alloc(length, String(length)));
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 60 }), (chunks) => {
      const body = collected(chunks);
      expect(Buffer.compare(body.joined(), Buffer.concat(chunks))).toBe(0);
      expect(Buffer.compare(Buffer.concat(body.list), Buffer.concat(chunks))).toBe(0);
    }),
  );
});

test('a small chunk is copied', () => {
  const body = new BodyChunks();
  const chunk = Buffer.from('first');
  body.push(chunk);
  chunk.fill('x');
  expect(body.joined().toString()).toBe('first');
});

test('a body of one-byte chunks is kept in few buffers, of at most twice its size', () => {
  const body = collected(Array.from({ length: 100_000 }, () => Buffer.from('a')));
  expect(body.list.length).toBeLessThan(20);
  const kept = new Set(body.list.map(({ buffer }) => buffer)).values().reduce((bytes, { byteLength }) => bytes + byteLength, 0);
  expect(kept).toBeLessThanOrEqual(2 * 100_000);
});

test('a large chunk is not copied', () => {
  const chunk = Buffer.alloc(1_024);
  expect(collected([chunk]).joined()).toBe(chunk);
});
