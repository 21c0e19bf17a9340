import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { findCredentials, scrub } from './scrub.ts';

const corpus = JSON.parse(readFileSync(new URL('../testdata/scrub-corpus.json', import.meta.url), 'utf8')) as {
  readonly hidden: readonly (readonly [string, string])[];
  readonly left: readonly string[];
};

describe('scrub', () => {
  test.each(corpus.hidden)('hides the credential in %j', (text, expected) => {
    expect(scrub(text).text).toBe(expected);
    expect(scrub(text).count).toBe(findCredentials(text).length);
    expect(scrub(text).count).toBeGreaterThan(0);
  });

  test.each(corpus.left)('leaves %j alone', (text) => {
    expect(scrub(text)).toEqual({ text, count: 0 });
    expect(findCredentials(text)).toEqual([]);
  });

  test('what stays of a text around credentials is unchanged', () => {
    const text = 'a sk-proj-abcdefgh b ghp_abcdefgh c';
    expect(scrub(text, '')).toEqual({ text: 'a  b  c', count: 2 });
    expect(findCredentials(text).map(({ start, end }) => text.slice(start, end))).toEqual(['sk-proj-abcdefgh', 'ghp_abcdefgh']);
  });

  test.each([
    ['spaces', 'bearer' + ' '.repeat(400_000)],
    ['prefixes', 'sk-'.repeat(150_000)],
    ['beginnings of tokens', 'eyJ.'.repeat(100_000)],
    ['one long beginning', `eyJ${'a'.repeat(400_000)}`],
    ['line feeds in JSON', '\\n'.repeat(200_000) + 'sk-'],
  ])('takes a time that grows with the length only: %s', (_, text) => {
    const started = performance.now();
    scrub(text);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
