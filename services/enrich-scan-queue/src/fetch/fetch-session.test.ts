import { expect, test } from '@jest/globals';
import { retryAfterOf } from './fetch-session.ts';

const DAY_MS = 86_400_000;

test.each([
  ['120', 120_000],
  [' 120 ', 120_000],
  ['0', undefined],
  ['-5', undefined],
  ['31536000', DAY_MS],
  ['99999999999', DAY_MS],
  ['9'.repeat(400), DAY_MS],
  ['Thu, 01 Jan 1970 00:00:00 GMT', undefined],
  ['Mon, 23 Nov 2026 12:01:00 GMT', 60_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', DAY_MS],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j', (value, expected) => {
  expect(retryAfterOf(value, () => Date.parse('2026-11-23T12:00:00Z'))).toBe(expected);
});
