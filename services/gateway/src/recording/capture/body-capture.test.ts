import { expect, test } from '@jest/globals';
import { BodyBudget } from './body-budget.ts';
import { BodyCapture } from './body-capture.ts';

// An object for each of them took a gateway's memory with 16 MB of requests.
test.each([0, 1_000_000])('a body in one-byte chunks, of which %i bytes are stored, is kept in few buffers', (stored) => {
  const body = new BodyCapture(new BodyBudget(10_000_000), stored, () => {});
  body.kind = 'json';
  const chunk = Buffer.from('1');
  for (let sent = 0; sent < 60_000; sent += 1) body.push(chunk);
  const { chunks, bytes } = body.captured('whole');
  expect([bytes, Buffer.concat(chunks).length]).toEqual([60_000, 60_000]);
  expect(chunks.length).toBeLessThan(20);
});
