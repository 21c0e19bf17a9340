import { expect, test } from '@jest/globals';
import { DEMO_FACTS } from '../demo/demo-store.ts';
import type { ObservationFacts } from '../observation/observation-facts.ts';
import { brandFactsOf, MAX_SHARING, sharedFacts, storesOfBrand, type BrandFacts } from './brand-facts.ts';

const SHOP = { platform_shop_id: { platform: 'shopify', id: '123' } };
const organization = (url: string | null, identifiers: string[] = [], name = 'Acme') => ({
  organization: { name, url, identifiers },
});
const alternates = (...hreflang_domains: string[]) => ({ hreflang_domains });

function factsOf(domain: string, changes: Partial<ObservationFacts>): BrandFacts {
  const facts = brandFactsOf(`sf_${domain}`, domain, { ...DEMO_FACTS, domain, ...changes });
  if (facts === undefined) throw new Error('a store without facts');
  return facts;
}

test.each<[string, Partial<ObservationFacts>, Partial<ObservationFacts>, string[]]>([
  [
    'the same shop, alternates of each other',
    { ...SHOP, ...alternates('b.com') },
    { ...SHOP, ...alternates('a.com') },
    ['shop_id', 'hreflang'],
  ],
  ['the shop alone', SHOP, SHOP, ['shop_id']],
  ['the same id on another platform', SHOP, { platform_shop_id: { platform: 'vtex', id: '123' } }, []],
  ['alternates one way', alternates('b.com'), alternates('c.com'), []],
  [
    'a VAT number in two spellings',
    organization(null, ['vatID:DE 123.456']),
    organization(null, ['vatID:de123456']),
    ['organization'],
  ],
  ['the site of one of them', organization('https://www.a.com/#org'), organization('https://a.com'), ['organization']],
  ['the site of an agency', organization('https://agency.com'), organization('https://agency.com'), []],
  ['a name', organization(null, []), organization('https://b.com', []), []],
])('two stores share %s', (_, a, b, expected) => {
  const [one, other] = [factsOf('a.com', { ...alternates('x.com'), ...a }), factsOf('b.com', { ...alternates('y.com'), ...b })];
  expect(sharedFacts(one, other)).toEqual(expected);
  expect(sharedFacts(other, one)).toEqual(expected);
  expect(storesOfBrand(one, [other])).toEqual(expected.length >= 2 ? [other] : []);
});

test('a fact shared by very many stores does not identify a brand', () => {
  const one = factsOf('a.com', { ...SHOP, ...organization(null, ['duns:1']) });
  const others = (n: number) =>
    Array.from({ length: n }, (_, i) => factsOf(`b${i}.com`, { ...SHOP, ...organization(null, ['duns:1']) }));
  expect(storesOfBrand(one, others(MAX_SHARING))).toHaveLength(MAX_SHARING);
  expect(storesOfBrand(one, others(MAX_SHARING + 1))).toEqual([]);
});

test('a page that is not open and a store without such facts give none', () => {
  const facts = { ...DEMO_FACTS, ...SHOP };
  expect(brandFactsOf('sf_1', 'a.com', { ...facts, condition: 'closed' })).toBeUndefined();
  expect(brandFactsOf('sf_1', 'a.com', DEMO_FACTS)).toBeUndefined();
});
