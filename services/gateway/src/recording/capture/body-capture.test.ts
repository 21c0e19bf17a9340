import { expect, test } from '@jest/globals';
import { BodyBudget } from './body-budget.ts';
import { BodyCapture } from './body-capture.ts';

// An object for each of them took a gateway's memory with 16 MB of requests.
test.each([
  [60_000, 0, 60_000],
  [100_000, 80_000, 80_000],
  [100_000, 1_000_000, 100_000],
])('a body of %i one-byte chunks, of which %i bytes are stored, is kept in few buffers', (sent, stored, kept) => {
  const body = new BodyCapture(new BodyBudget(10_000_000), stored, () => {});
  body.kind = 'json';
  const chunk = Buffer.from('1');
  for (let count = 0; count < sent; count += 1) body.push(chunk);
  const { chunks, bytes } = body.captured('whole');
  expect([bytes, Buffer.concat(chunks).length]).toEqual([sent, kept]);
  expect(chunks.length).toBeLessThan(20);
});
