import { expect, test } from '@jest/globals';
import { parseRobots } from './reading/parse-robots.ts';
import { RobotsCache } from './robots-cache.ts';

const origin = (n: number) => `https://shop-${n}.example.com`;

test.each([
  ['large files', `User-agent: *\nDisallow: /a/long/path/that/keeps/the/text\n#${'x'.repeat(499_000)}`, 100],
  ['many origins', 'User-agent: *\nDisallow: /a', 2_100],
])('memory is bounded with %s: the oldest go first', (_, text, count) => {
  const cache = new RobotsCache(() => 0);
  for (let n = 1; n <= count; n++) cache.set(origin(n), parseRobots(text, 'VitrineBot'));
  expect(cache.get(origin(1))).toBeUndefined();
  expect(cache.get(origin(count))?.isAllowed('/a/long/path/that/keeps/the/text')).toBe(false);
  // A new read replaces the old entry and counts once.
  for (let n = 1; n <= count; n++) cache.set(origin(count), parseRobots(text, 'VitrineBot'));
  expect(cache.get(origin(count - 1))).toBeDefined();
});
