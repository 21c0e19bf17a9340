import { expect, test } from '@jest/globals';
import { CATEGORIES, TECHNOLOGY_KINDS } from './technology.ts';
import { VOCABULARY } from './vocabulary.ts';

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

test('the vocabulary has at least 25 platforms and 150 other technologies', () => {
  const platforms = VOCABULARY.filter(({ kind }) => kind === 'platform').length;
  expect(platforms).toBeGreaterThanOrEqual(25);
  expect(VOCABULARY.length - platforms).toBeGreaterThanOrEqual(150);
});

test('slugs are unique, sorted and well-formed', () => {
  const slugs = VOCABULARY.map(({ slug }) => slug);
  expect([...new Set(slugs)].toSorted()).toEqual(slugs);
  expect(slugs.filter((slug) => !SLUG.test(slug) || slug.length > 64)).toEqual([]);
});

test('every entry has a name, one category of its kind, and a website over https or none', () => {
  const offenders = VOCABULARY.filter(({ name, kind, category, vendor, website }) => {
    const isNamed = name.trim() === name && name !== '' && vendor?.trim() !== '';
    const isFiled =
      (kind === 'platform') === (category === 'ecommerce-platform') && (kind === 'theme') === (category === 'theme');
    const url = website === null ? undefined : URL.parse(website);
    const hasWebsite = website === null || (url?.protocol === 'https:' && url.search === '' && url.hash === '');
    return !(isNamed && isFiled && hasWebsite && TECHNOLOGY_KINDS.includes(kind));
  });
  expect(offenders).toEqual([]);
});

test('every category has a technology, and every technology a category', () => {
  const used = new Set<string>(VOCABULARY.map(({ category }) => category));
  expect([...used].toSorted()).toEqual(Object.keys(CATEGORIES).toSorted());
});

test('names are unique', () => {
  const names = VOCABULARY.map(({ name }) => name.toLowerCase());
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});
