import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { openPrivacyContext } from './privacy-context.ts';
import { Scrubber } from './redaction.ts';
import { Redactor } from './redactor.ts';
import { findCredentials, scrub } from './scrub.ts';
import { TEST_RULES } from './testing/test-rules.ts';

const redactor = new Redactor(openPrivacyContext(TEST_RULES), 'default');

const corpus = JSON.parse(readFileSync(new URL('../testdata/scrub-corpus.json', import.meta.url), 'utf8')) as {
  readonly redacted: readonly (readonly [string, string])[];
  readonly left: readonly string[];
};

/** Parts of credentials, cut credentials, and texts that resemble their ends. */
const parts = fc.constantFrom(
  'password',
  'SECRET',
  'token',
  'bearer',
  'sk-',
  'ogk_',
  'eyJaaa.bbb.ccc',
  'AKIAIOSFODNN7EXAMPLE',
  'hf_abcdefghijklmnopqrstuvwxyz012345',
  'redis://u:',
  '@h',
  'abcdef12',
  'hunter 2',
  'x',
  '7',
  'authorization',

  '=',
  ':',
  ': ',
  ' = ',
  ':=',
  '=>',
  '"',
  "'",
  '`',
  '\\',
  '\\"',
  '\\\\',
  '/',
  ',',
  ';',
  '&',
  '.',
  ' ',
  '\t',
  '\n',
  '\r',
  '[',
  '{',
  '%',
  '%20',
  '%22',
  '%3D',
  '%25',
  '%2573',
  '\\u0022',
  '\\u003d',
  '\\n',
  '\\t',
  '\u{1f600}',
  'é',
  '[REDACTED]',
);
const texts = fc.array(parts, { maxLength: 14 }).map((some) => some.join(''));

describe('scrub', () => {
  test.each(corpus.redacted)('redacts the credential in %j', (text, expected) => {
    expect(scrub(text).text).toBe(expected);
    expect(scrub(text).count).toBe(findCredentials(text).length);
    expect(scrub(text).count).toBeGreaterThan(0);
  });

  test.each(corpus.left)('leaves %j unchanged', (text) => {
    expect(scrub(text)).toEqual({ text, count: 0 });
    expect(findCredentials(text)).toEqual([]);
  });

  test('the text around credentials is unchanged', () => {
    const text = 'a sk-proj-abcdefgh b ghp_abcdefgh c';
    expect(scrub(text, '')).toEqual({ text: 'a  b  c', count: 2 });
    expect(findCredentials(text).map(({ start, end }) => text.slice(start, end))).toEqual(['sk-proj-abcdefgh', 'ghp_abcdefgh']);
  });

  test('JSON stays JSON and keeps its structure', () => {
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        texts,
        fc.integer(),
        fc.constant(null),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'password', 'Token', 'my secret', 'token='), tie('tree'), { maxKeys: 3 }),
        tie('tree').map((value) => JSON.stringify(value)),
      ),
    }));
    const shape = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(shape)
        : typeof value === 'object' && value !== null
          ? Object.entries(value).map(([name, one]) => [name, shape(one)])
          : typeof value;
    fc.assert(
      fc.property(tree, fc.nat(2), (value, indent) => {
        const text = JSON.stringify({ value }, null, indent);
        expect(shape(JSON.parse(scrub(text).text))).toEqual(shape({ value }));
      }),
      { numRuns: propertyRuns(3_000) },
    );
  });

  test.each(corpus.redacted)('finds nothing more in the scrubbed %j', (_, expected) => {
    expect(scrub(expected)).toEqual({ text: expected, count: 0 });
  });

  test('line ends are kept, and in header lines also those in a private key', () => {
    const marker = fc.constantFrom('-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', 'abcdefghijklmnopqrstuvwxyz');
    const lineEnds = (text: string) => text.split(/[\r\n]/).length;
    fc.assert(
      fc.property(texts, fc.array(marker), (text, keys) => {
        expect(lineEnds(scrub(text).text)).toBe(lineEnds(text));
        const lines = [text, ...keys].join('\n');
        expect(lineEnds(new Scrubber().headers(lines))).toBe(lineEnds(lines));
        expect(lineEnds(redactor.headers(lines))).toBe(lineEnds(lines));
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });

  test('a private key is redacted up to 64 KiB', () => {
    const [begin, end] = ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'];
    const lines = `\n${'a'.repeat(64)}`.repeat(1_000);
    expect(scrub(begin + lines + end).text).toBe('[CREDENTIAL_REDACTED]');
    expect(scrub(begin + lines.repeat(2)).text).toBe(`[CREDENTIAL_REDACTED]${lines.repeat(2).slice(65_536)}`);
    const prose = `${begin}\n${'and '.repeat(20_000)}${'a'.repeat(64)}\n${end}`;
    expect(scrub(prose)).toEqual({ text: prose, count: 0 });
  });

  test.each([
    ['spaces', 'bearer' + ' '.repeat(400_000)],
    ['prefixes', 'sk-'.repeat(150_000)],
    ['beginnings of tokens', 'eyJ.'.repeat(100_000)],
    ['one long beginning', `eyJ${'a'.repeat(400_000)}`],
    ['line feeds in JSON', '\\n'.repeat(200_000) + 'sk-'],
    ['blanks behind names', `password${' '.repeat(400_000)}`],
    ['names', 'password '.repeat(50_000)],
    ['open quotes', `password="`.repeat(40_000)],
    ['open quotes behind names in quotes', `"token":"`.repeat(40_000)],
    ['backslashes', `password=${'\\'.repeat(400_000)}`],
    ['backslashes behind quotes', `{"password=\\"${'\\'.repeat(400_000)}`],
    ['names behind names', 'password='.repeat(40_000)],
    ['commas', `token=${',a'.repeat(200_000)}`],
    ['commas and names', `token=${`,${'a'.repeat(64)}`.repeat(6_000)}`],
    ['escapes', 'token=%25'.repeat(40_000)],
    ['escaped escapes', `sk-%${'25'.repeat(200_000)}`],
    ['bearers', 'bearer a '.repeat(40_000)],
    ['tabs of JSON', `bearer${'\\\\t'.repeat(130_000)}`],
    ['beginnings of tokens without more', 'AIza-hf_npm_SG.glpat-'.repeat(20_000)],
    ['a long first part', `SG.${'a'.repeat(400_000)}`],
    ['beginnings of private keys', '-----BEGIN PRIVATE KEY-----'.repeat(15_000)],
    ['private keys without an end', `-----BEGIN PRIVATE KEY-----\n${'a'.repeat(64)}\n`.repeat(4_000)],
    ['a private key without an end', `-----BEGIN PRIVATE KEY-----${`\n${'a'.repeat(64)}`.repeat(6_000)}`],
    ['quotes behind private keys', `{"a":"${'-----BEGIN PRIVATE KEY-----\\n-----END PRIVATE KEY-----'.repeat(8_000)}`],
    ['line ends behind private keys', `-----BEGIN PRIVATE KEY-----${'\n'.repeat(400_000)}-----END PRIVATE KEY-----`],
    ['beginnings of URLs', 'h://a:'.repeat(70_000) + '@'],
    ['one long password', `h://a:${'b'.repeat(400_000)}`],
    ['signs of hosts', `h://a:${'b@'.repeat(200_000)}`],
    ['users', 'h://a@'.repeat(70_000)],
  ])('takes linear time: %s', (_, text) => {
    const started = performance.now();
    scrub(text);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
