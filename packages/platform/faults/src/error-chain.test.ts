import { expect, test } from '@jest/globals';
import { errorChain } from './error-chain.ts';

const refused = new Error('connection refused');

test.each([
  ['an error alone', refused, ['Error: connection refused']],
  ['its causes', new Error('no database', { cause: refused }), ['Error: no database', '  Error: connection refused']],
  [
    'what a failed disposal hid',
    new SuppressedError(new Error('close failed'), refused),
    ['SuppressedError: ', '  Error: close failed', '  Error: connection refused'],
  ],
  [
    'errors that came together',
    new AggregateError([refused, new TypeError('no number')], 'both failed'),
    ['AggregateError: both failed', '  Error: connection refused', '  TypeError: no number'],
  ],
  ['what is no error', 'text', ['text']],
])('%s', (_, error, lines) => {
  expect(errorChain(error).split('\n')).toEqual(lines);
});

test('circular and long chains of causes are cut', () => {
  const circle = new Error('a');
  circle.cause = new Error('b', { cause: circle });
  expect(errorChain(circle)).toBe('Error: a\n  Error: b');
  let long = new Error('0');
  for (let i = 1; i < 100; i += 1) long = new Error(String(i), { cause: long });
  expect(errorChain(long).split('\n')).toHaveLength(20);
});
