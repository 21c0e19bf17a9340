import { expect, test } from '@jest/globals';
import { rotationDueAt } from './decide-key.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-23T12:00:00Z');

test.each([
  ['a token of this morning', NOW - 5_000, NOW - 5_000 + DAY_MS],
  ['a token of a process whose clock is a little ahead', NOW + 5_000, NOW + 5_000 + DAY_MS],
  ['a token of the year 2099', Date.parse('2099-01-01T00:00:00Z'), DAY_MS],
  ['a token of which it is not known', undefined, DAY_MS],
])('%s', (_, rotatedAt, expected) => {
  expect(rotationDueAt(rotatedAt, DAY_MS, NOW)).toBe(expected);
});
