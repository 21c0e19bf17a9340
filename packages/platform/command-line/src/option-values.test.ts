import { expect, test } from '@jest/globals';
import { durationOption, httpUrlOption, wholeNumberOption } from './option-values.ts';

test.each([
  ['2000', 2_000],
  ['5s', 5_000],
  ['1.5s', 1_500],
])('a time option accepts %s', (text, ms) => {
  expect(durationOption('--timeout', text, 1, 600_000)).toBe(ms);
});

test.each(['0', '0s', '11m', 's', '-1', '5 s', ''])('a time option rejects %j', (text) => {
  expect(() => durationOption('--timeout', text, 1, 600_000)).toThrow(
    '--timeout must be 1 to 600000 milliseconds, or a duration such as 5s',
  );
});

test.each(['0', '6', '1.5', '-1', 'x', '', '1e0'])('a whole number option rejects %j', (text) => {
  expect(() => wholeNumberOption('--limit', text, 1, 5)).toThrow('--limit must be a whole number from 1 to 5');
});

test('a URL option removes trailing slashes and accepts only http and https', () => {
  expect(httpUrlOption('--base-url', 'https://gateway.example.com/a//')).toBe('https://gateway.example.com/a');
  for (const text of ['ftp://x', 'x', '']) expect(() => httpUrlOption('--base-url', text)).toThrow('--base-url must be an http');
});
