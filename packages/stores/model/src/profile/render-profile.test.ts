import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { store } from '../resources/store.ts';
import { signal, storeState, URLS } from '../testing/store-states.ts';
import { renderProfile } from './render-profile.ts';

const SIGNALS = [1, 2, 3, 4, 5, 6, 7].map((n) => signal(n));
const EMPTY = storeState({
  brand_group_id: 'bg_1',
  name: null,
  platform: null,
  technologies: [],
  geography: { country: null, basis: null },
  industry: { slug: null, basis: null },
  catalog: null,
});

test.each([
  ['a full store', storeState(), SIGNALS],
  ['a store of which little is known', EMPTY, []],
])('the profile of %s is the Store resource, with all of its fields in order', (_, state, signals) => {
  const rendered = JSON.parse(renderProfile(state, signals, URLS).text) as unknown;
  // Parsing applies the field order of the schema and drops unknown fields.
  expect(JSON.stringify(store.parse(rendered))).toBe(JSON.stringify(rendered));
});

test('the fields of a profile are in the order of the specification', () => {
  const profile = JSON.parse(renderProfile(storeState(), SIGNALS, URLS).text) as Record<string, unknown>;
  expect(Object.keys(profile).join(' ')).toBe(
    'domain storefront_host storefront_id brand_group_id name platform status technologies geography industry catalog observation recent_signals profile_url',
  );
  expect(profile['profile_url']).toBe('https://example.com/stores/example.com');
});

test('a profile has the five most recently confirmed signals, newest first', () => {
  const { recent_signals: recent } = store.parse(JSON.parse(renderProfile(storeState(), SIGNALS, URLS).text));
  expect(recent.map(({ id }) => id)).toEqual([7, 6, 5, 4, 3].map((n) => signal(n).id));
});

test('equal states in any order give the same text and hash; another state gives another hash', () => {
  const expected = renderProfile(storeState(), SIGNALS, URLS);
  const { technologies } = storeState();
  const shuffled = <T>(items: readonly T[]) => fc.shuffledSubarray([...items], { minLength: items.length });
  fc.assert(
    fc.property(shuffled(technologies), shuffled(SIGNALS), (someTechnologies, someSignals) => {
      expect(renderProfile(storeState({ technologies: someTechnologies }), someSignals, URLS)).toEqual(expected);
    }),
  );
  expect(renderProfile(storeState({ name: 'Other' }), SIGNALS, URLS).hash).not.toBe(expected.hash);
  expect(expected.hash).toMatch(/^[\w-]{22}$/);
});

test('technology data in a profile comes from the vocabulary', () => {
  const { platform, technologies } = store.parse(JSON.parse(renderProfile(storeState(), [], URLS).text));
  expect([platform?.name, ...technologies.map(({ name, category }) => `${name}: ${category}`)]).toEqual([
    'Shopify',
    'Klaviyo: email-sms',
    'Dawn: theme',
  ]);
});
