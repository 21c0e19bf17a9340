import { expect, test } from '@jest/globals';
import { readCorpus, sourceKindOf, type LabelledPage } from '../testing/corpus.ts';
import { corpusFigures } from '../testing/corpus-figures.ts';
import { VOCABULARY } from '../vocabulary.ts';
import { detect } from './detect.ts';

const CORPUS = readCorpus('corpus');
const INDEPENDENT = readCorpus('independent-corpus');
const isCaptured = (page: LabelledPage) => sourceKindOf(page) === 'captured';
/** Expected technologies on these pages must come from a live site. Negative examples may come from anywhere. */
const OF_LIVE_SITES = INDEPENDENT.filter((page) => isCaptured(page) || page.kind !== 'positive');

test('the corpus has at least 250 pages with different names, at least half of them reconstructed from a named source', () => {
  const sourced = CORPUS.filter(({ source }) => source !== '' && !source.startsWith('own'));
  expect(CORPUS.length).toBeGreaterThanOrEqual(250);
  expect(new Set(CORPUS.map(({ name }) => name)).size).toBe(CORPUS.length);
  expect(sourced.length).toBeGreaterThanOrEqual(CORPUS.length / 2);
});

test('every page by an independent author has a unique name and the kind of its source', () => {
  expect(new Set(INDEPENDENT.map(({ name }) => name)).size).toBe(INDEPENDENT.length);
  expect(INDEPENDENT.filter((page) => sourceKindOf(page) === undefined).map(({ name }) => name)).toEqual([]);
});

test('of at least 200 pages of live sites, traps and negatives, at least half are based on captures', () => {
  expect(OF_LIVE_SITES.length).toBeGreaterThanOrEqual(200);
  expect(new Set(OF_LIVE_SITES.map(({ kind }) => kind))).toEqual(new Set(['positive', 'trap', 'negative']));
  expect(OF_LIVE_SITES.filter(isCaptured).length).toBeGreaterThanOrEqual(OF_LIVE_SITES.length / 2);
});

test('labels name existing pages and technologies, and every technology is expected on some page', () => {
  const labelled = new Set(CORPUS.flatMap(({ expected, optional }) => [...expected.keys(), ...optional]));
  const slugs = VOCABULARY.map(({ slug }) => slug);
  expect([...labelled].filter((slug) => !slugs.includes(slug))).toEqual([]);
  expect(slugs.filter((slug) => !labelled.has(slug))).toEqual([]);
});

test('every technology is found on a page that is labelled with it', () => {
  const found = new Set(
    CORPUS.flatMap(({ evidence, expected, optional }) =>
      detect(evidence).technologies.flatMap(({ slug }) => (expected.has(slug) || optional.has(slug) ? [slug] : [])),
    ),
  );
  const missed = VOCABULARY.filter(({ slug }) => !found.has(slug));
  expect(missed.map(({ slug }) => `${slug}: its rules match none of the pages that labels.txt gives it`)).toEqual([]);
});

test.each([
  ['the corpus', CORPUS],
  ['pages that were written without looking at the rules', readCorpus('blind-corpus')],
  ['pages by independent authors', INDEPENDENT],
  ['pages by independent authors, based on captures, and all traps and negatives', OF_LIVE_SITES],
  ['pages that are based on captures alone', INDEPENDENT.filter(isCaptured)],
])('no false high, at most 1 %% false medium, recall of at least 95 %%, at least 99 %% of install states: %s', (_, pages) => {
  const figures = corpusFigures(pages, (evidence) => detect(evidence));
  expect(figures.false.high).toEqual([]);
  expect(figures.false.medium.length).toBeLessThanOrEqual(figures.reported.medium / 100);
  expect(figures.wrongState.length).toBeLessThanOrEqual(figures.expected / 100);
  expect(figures.recall).toBeGreaterThanOrEqual(0.95);
});
