import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CREDENTIAL_WORDS, findCredentials } from './scrub.ts';
import { TextSieve } from './text-sieve.ts';

const WORDS = ['"email', 'bearer ', 'sk-', '\\u004', 'password='];
const sieve = new TextSieve({ words: WORDS, characters: '@', numbers: true });

/** Asked in every way that there is, wherever the bytes lie in memory. */
function answers(some: TextSieve, text: string): boolean[] {
  const bytes = Buffer.from(`-${text}`).subarray(1);
  return [
    some.catches(text),
    some.catches(`#${text}#`, 1, text.length + 1),
    some.catchesBytes(Buffer.from(text)),
    some.catchesBytes(bytes),
  ];
}
const YES = [true, true, true, true];
const NO = [false, false, false, false];

describe('a sieve catches', () => {
  test.each([
    ...WORDS,
    'a"Email"',
    'BEARER x',
    'x@',
    '12-3456',
    '12 3456',
    '12.3456',
    '+1',
    '(+49',
    'tel:+1',
    '\u{1f600}sk-',
    '\u4f60\u597dsk-\u4f60',
    'xx\u00e9@',
  ])('%j', (text) => {
    for (const before of ['', 'x', 'xy']) expect(answers(sieve, `${before.replace(/./g, ' ')}${text} `)).toEqual(YES);
  });

  test('a word wherever it stands, in any case, among other texts', () => {
    const noise = fc.string({
      unit: fc.constantFrom('a', 'b', 'e', 'k', 'r', 's', 't', '0', ' ', '"', '_', '=', '-', '\\', '\u00e9', '\u4f60'),
    });
    fc.assert(
      fc.property(noise, fc.constantFrom(...WORDS), fc.boolean(), noise, (before, word, isUpper, after) => {
        expect(answers(sieve, before + (isUpper ? word.toUpperCase() : word) + after)).toEqual(YES);
      }),
    );
  });

  test('every text that holds a credential', () => {
    const credentials = new TextSieve({ words: CREDENTIAL_WORDS });
    const part = fc.constantFrom(...CREDENTIAL_WORDS, 'BEARER ', 'TOKEN=', 'abcdef', '.', 'eyJaaa.bbb.ccc', ' ', '\\n', '_', 'x');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const text = parts.join('');
        if (findCredentials(text).length > 0) expect(answers(credentials, text)).toEqual(YES);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a sieve lets through', () => {
  test.each([
    '',
    'x',
    'email',
    'bear er',
    'sk',
    '1-3456',
    '12-345',
    '12-34x6',
    '+',
    'a+1',
    '=+1',
    '/+1',
    '\\u00e9',
    'pass word=',
  ])('%j', (text) => {
    expect(answers(sieve, text)).toEqual(NO);
  });
});
