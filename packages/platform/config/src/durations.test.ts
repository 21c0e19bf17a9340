import { expect, test } from '@jest/globals';
import { parseDuration } from './durations.ts';

test.each([
  ['250ms', 250],
  ['3s', 3_000],
  [' 3s ', 3_000],
  ['1.5s', 1_500],
  ['4.35s', 4_350],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['0.25h', 900_000],
  ['0s', 0],
])('%j is %d ms', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  '',
  '3',
  's',
  '3 s',
  '3S',
  '-3s',
  '+3s',
  '1e3s',
  '0.5ms',
  '1.0001s',
  '3d',
  '1h30m',
  '3s3s',
  '.5s',
  '9'.repeat(14) + 'h',
  'NaNs',
])('%j is not a duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});
