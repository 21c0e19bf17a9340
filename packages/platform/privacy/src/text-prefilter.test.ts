import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { DETECTORS } from './findings.ts';
import { findCredentials } from './scrub.ts';
import { TextPrefilter } from './text-prefilter.ts';

const prefilter = new TextPrefilter({ detectors: DETECTORS, words: ['"email', '"k"'] });
const credentials = new TextPrefilter({ detectors: ['token_like'] });
const BEGINNINGS =
  'sk- sk_ pk_ rk_ sgk_ ogk_ pat_ github_pat_ svc_live_ xoxb- xoxp_ gho_ ghp_ ghr_ ghs_ ghu_ eyJ bearer glpat- hf_ npm_ gsk_ xai- SG. AKIA ASIA AIza AIzaSy'.split(
    ' ',
  );

describe('a prefilter catches', () => {
  test.each([
    '"k":1',
    '{"Email":1',
    'BEARER x',
    'password=',
    'TOKEN: x',
    'xxxx@',
    '12-3456',
    '12 3456',
    '12.3456',
    '+1234',
    '(+49 1',
    'tel:+1',
    'a\\u0040b',
    'sk%2Da',
    '\u{1f600}sk-a',
    '\u4f60\u597dsk-\u4f60a',
  ])('%j', (text) => {
    expect(prefilter.mayMatch(text)).toBe(true);
  });

  /** A text with some of its characters written as escapes. */
  const escaped = (text: string, which: RegExp, how: number) =>
    text.replace(which, (one) => {
      const code = one.charCodeAt(0).toString(16).padStart(2, '0');
      return [one, `%${code}`, `%${code.toUpperCase()}`, `%25${code}`, `\\u00${code}`, `\\\\u00${code}`][how] ?? one;
    });
  const someCharacters = fc.constantFrom(/\p{ASCII}/gu, /\p{ASCII}(?=.)/gu, /[\t ]/g, /\W/g, /[aeiou]/g, /^./g);

  test('every text that contains a credential', () => {
    const part = fc.oneof(
      fc.constantFrom(...BEGINNINGS),
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
        'abcdefghijklmnopqrstuvwxyz',
        'ABCDEFGHIJKLMNOP',
        'abcdefghijklmnopqrst.abcdefghijklmnopqrstuvwxyz0123456',
        'abcdefghijklmnopqrstuvwxyz012345678',
        'redis://',
        'redis:\\/\\/',
        'u:p',
        '@',
        '-----BEGIN RSA PRIVATE KEY-----',
        '-----END RSA PRIVATE KEY-----',
      ),
      fc.constantFrom(' ', '\t', '\n', '\\n', '\\t', '"', "'", '`', '\\"', ':', '=', ':=', '=>', '==', ',', 'a1', 'é', '\u4f60'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), someCharacters, fc.nat(5), (parts, which, how) => {
        const text = escaped(parts.join(''), which, how);
        if (findCredentials(text).length > 0) expect(credentials.mayMatch(text)).toBe(true);
      }),
      { numRuns: propertyRuns(10_000) },
    );
  });

  test('every assignment of a secret', () => {
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
          expect(credentials.mayMatch(text)).toBe(true);
        },
      ),
      { numRuns: propertyRuns(10_000) },
    );
  });
});

describe('a prefilter passes', () => {
  test.each([
    '',
    'x',
    'email',
    'bear er',
    'sk a token a',
    '1-3456',
    '12-345',
    '12-34x6',
    'abcd+',
    'abc+1',
    '==+123',
    '//+123',
    'a\\u00e9bc',
    'pass word=',
    'AKIMBO AIzo',
    'an SG-1',
    'PUBLIC KEY',
    'eyjaaa',
    'PAT_abcdef',
    '%zz \\u1234',
  ])('%j', (text) => {
    expect(prefilter.mayMatch(text)).toBe(false);
  });
});
