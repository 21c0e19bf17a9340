import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CREDENTIAL_PATTERNS, findCredentials } from './scrub.ts';
import { TextPrefilter } from './text-prefilter.ts';

const WORDS = ['"email', 'bearer ', 'sk-', '\\u004', 'password='];
const prefilter = new TextPrefilter({ words: WORDS, characters: '@', numbers: true });

/** The result of each method, for every alignment of the bytes in memory. */
function matchesOf(some: TextPrefilter, text: string): boolean[] {
  const bytes = Buffer.from(`-${text}`).subarray(1);
  return [
    some.mayMatch(text),
    some.mayMatch(`#${text}#`, 1, text.length + 1),
    some.mayMatchBytes(Buffer.from(text)),
    some.mayMatchBytes(bytes),
  ];
}
const YES = [true, true, true, true];
const NO = [false, false, false, false];

describe('a prefilter catches', () => {
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
    for (const before of ['', 'x', 'xy']) expect(matchesOf(prefilter, `${before.replace(/./g, ' ')}${text} `)).toEqual(YES);
  });

  test('a word wherever it stands, in any case, among other texts', () => {
    const noise = fc.string({
      unit: fc.constantFrom('a', 'b', 'e', 'k', 'r', 's', 't', '0', ' ', '"', '_', '=', '-', '\\', '\u00e9', '\u4f60'),
    });
    fc.assert(
      fc.property(noise, fc.constantFrom(...WORDS), fc.boolean(), noise, (before, word, isUpper, after) => {
        expect(matchesOf(prefilter, before + (isUpper ? word.toUpperCase() : word) + after)).toEqual(YES);
      }),
    );
  });

  /** A text with some of its characters written as escapes. */
  const escaped = (text: string, which: RegExp, how: number) =>
    text.replace(which, (one) => {
      const code = one.charCodeAt(0).toString(16).padStart(2, '0');
      return [one, `%${code}`, `%${code.toUpperCase()}`, `%25${code}`, `\\u00${code}`, `\\\\u00${code}`][how] ?? one;
    });
  const someCharacters = fc.constantFrom(/\p{ASCII}/gu, /\p{ASCII}(?=.)/gu, /[\t ]/g, /\W/g, /[aeiou]/g, /^./g);

  test('every text that holds a credential', () => {
    const credentials = new TextPrefilter(CREDENTIAL_PATTERNS);
    const { words, prefixes = [] } = CREDENTIAL_PATTERNS;
    const known = [
      ...words,
      ...prefixes.flatMap(({ words, before }) => words.flatMap((word) => before.map((next) => word + next))),
    ];
    const part = fc.oneof(
      fc.constantFrom(...known),
      fc.constantFrom(
        'password',
        'SECRET',
        'BEARER ',
        'TOKEN=',
        'abcdef',
        'hunter2',
        '.',
        'eyJaaa.bbb.ccc',
        '_',
        'x',
        'authorization:',
      ),
      fc.constantFrom(' ', '\t', '\n', '\\n', '\\t', '"', "'", '`', '\\"', ':', '=', ':=', '=>', '==', ',', 'a1', 'é', '\u4f60'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), someCharacters, fc.nat(5), (parts, which, how) => {
        const text = escaped(parts.join(''), which, how);
        if (findCredentials(text).length > 0) expect(matchesOf(credentials, text)).toEqual(YES);
      }),
      { numRuns: 10_000 },
    );
  });

  test('every assignment of a secret', () => {
    const credentials = new TextPrefilter(CREDENTIAL_PATTERNS);
    const blanks = fc.string({ unit: fc.constantFrom(' ', '\t'), maxLength: 8 });
    const name = fc.constantFrom('password', 'Secret', 'TOKEN', '"token"', "'password'", '\\"secret\\"');
    const sign = fc.constantFrom('=', ':', ':=', '=>', '==');
    const value = fc.constantFrom('"abc123"', "'abc123'", '\\"abc123\\"', '`abc123`');
    fc.assert(
      fc.property(
        name,
        blanks,
        sign,
        blanks,
        value,
        someCharacters,
        fc.nat(5),
        (name, before, sign, after, value, which, how) => {
          const text = escaped(`${name}${before}${sign}${after}${value}`, which, how);
          expect(findCredentials(text)).not.toEqual([]);
          expect(matchesOf(credentials, text)).toEqual(YES);
        },
      ),
      { numRuns: 10_000 },
    );
  });
});

describe('a prefilter lets through', () => {
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
    expect(matchesOf(prefilter, text)).toEqual(NO);
  });
});
