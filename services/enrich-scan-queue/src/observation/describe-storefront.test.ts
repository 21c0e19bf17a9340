import { expect, test } from '@jest/globals';
import { anyCharacter } from '@vitrine/testkit/testing/any-character';
import fc from 'fast-check';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import type { PageClass, PageEvidence } from '@vitrine/registry/evidence/evidence';
import { observationFacts, type Detections } from '@vitrine/stores/observation/observation-facts';
import type { ScanCapture } from '../scan/scan-ports.ts';
import { describeStorefront } from './describe-storefront.ts';

const SEEN: Detections = {
  pages: { home: ['header', 'host'] },
  technologies: [
    {
      slug: 'shopify',
      install_state: 'active',
      confidence: 'high',
      sightings: [{ page_class: 'home', channel: 'header', rule: 'r' }],
    },
  ],
  withheld: [],
};
const NOTHING: Detections = { pages: { home: ['header', 'host'] }, technologies: [], withheld: [] };

function page(html: string, pageClass: PageClass = 'home', url = 'https://example.com/'): PageEvidence {
  return extractPageEvidence({ html, url, pageClass });
}
const capture = (more: Partial<ScanCapture> = {}): ScanCapture => ({
  domain: 'example.com',
  storefrontHost: 'example.com',
  startedAt: 1,
  completedAt: 2,
  scope: 'full',
  coverageNote: null,
  storefrontCondition: 'open',
  pages: [page('<title>Hello</title>')],
  documents: [],
  redirects: [],
  ...more,
});
const facts = (more: Partial<ScanCapture> = {}, detections = SEEN) => {
  const described = describeStorefront(capture(more), () => detections).facts;
  expect(observationFacts.parse(described)).toEqual(described);
  return described;
};
const jsonLd = (...values: readonly object[]) =>
  values.map((value) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`).join('');
const products = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: i + 1, title: 'Hoodie', variants: [{ price: '20.00', available: true }] }));
const document = (kind: string, body: unknown) => ({ kind, url: 'https://example.com/x', status: 200, headers: {}, body });

test('a shop with settings, catalogue and structured data', () => {
  const meta = {
    name: 'Acme',
    country: 'DE',
    currency: 'EUR',
    published_products_count: 12,
    myshopify_domain: 'acme.myshopify.com',
  };
  const html = `<link rel="alternate" hreflang="en-US" href="https://acme.com/"><link rel="alternate" hreflang="de" href="https://example.com/">
    ${jsonLd({ '@type': 'Organization', name: 'Acme GmbH', url: 'https://example.com', vatID: 'DE123456789' }, { '@type': 'Organization', name: 'Agency', url: 'https://agency.com' })}`;
  expect(
    facts({
      pages: [page(html)],
      documents: [document('shopify_meta', meta), document('shopify_products', { products: products(12) })],
    }),
  ).toMatchObject({
    name: 'Acme',
    shows_commerce: true,
    shows_products: true,
    geography: { country: 'DE', basis: 'observed' },
    industry: { slug: 'apparel-accessories', basis: 'classified' },
    catalog: {
      product_count: 12,
      available_count: 12,
      currency: 'EUR',
      price_range: { p25: 20, median: 20, p75: 20 },
      coverage: 'full',
    },
    platform_shop_id: { platform: 'shopify', id: 'acme.myshopify.com' },
    organization: { name: 'Acme GmbH', identifiers: ['vatID:DE123456789'] },
    hreflang_domains: ['acme.com'],
    permanent_redirect: null,
  });
});

test.each<readonly [string, Partial<ScanCapture>, object]>([
  ['a page without commerce', {}, { shows_commerce: false, shows_products: false, catalog: null, name: null }],
  [
    'a product with a price',
    { pages: [page(jsonLd({ '@type': 'Product', name: 'Mug', offers: { price: '9.00', priceCurrency: 'EUR' } }))] },
    { shows_commerce: true, shows_products: true },
  ],
  [
    'a cart page',
    { pages: [page(''), page('', 'cart', 'https://example.com/cart')] },
    { shows_commerce: true, shows_products: false },
  ],
  [
    'an empty catalogue',
    { documents: [document('shopify_products', { products: [] })] },
    { shows_products: false, catalog: { product_count: 0 } },
  ],
  ['a catalogue that is no JSON', { documents: [document('shopify_products', '<html>')] }, { catalog: null }],
])('without a platform: %s', (_, more, expected) => {
  expect(facts(more, NOTHING)).toMatchObject(expected);
});

test('sitemap addresses count as products when the platform is certain', () => {
  const more = { documents: [document('product_sitemap', ['/p/1', '/p/2'])] };
  const catalog = { product_count: 2, available_count: null, currency: null, price_range: null, coverage: 'partial' };
  expect(facts(more)).toMatchObject({ shows_products: true, catalog });
  expect(facts(more, NOTHING)).toMatchObject({ shows_products: false, shows_commerce: false, catalog });
  expect(describeStorefront(capture(more), () => SEEN).evidence.endpoints).toEqual({});
});

test('an endpoint without a currency uses that of structured data, and sitemaps come after endpoints', () => {
  const mug = { '@type': 'Product', name: 'Mug', offers: { price: '9.00', priceCurrency: 'CAD' } };
  const list = Array.from({ length: 20 }, (_, i) => ({ id: i, name: 'Mug', status: 'active', price: 9 }));
  const documents = [document('big_cartel_products', list), document('product_sitemap', ['/p/1'])];
  const catalog = { product_count: 20, currency: 'CAD', price_range: { median: 9 }, coverage: 'first_page' };
  expect(facts({ pages: [page(jsonLd(mug))], documents })).toMatchObject({ catalog });
  const two = jsonLd(mug, { ...mug, name: 'Cup', offers: { price: '9.00', priceCurrency: 'USD' } });
  expect(facts({ pages: [page(two)], documents })).toMatchObject({ catalog: { currency: null, price_range: null } });
});

test.each(['closed', 'password', 'parked'] as const)('a page that is %s gives only its status', (storefrontCondition) => {
  const pages = [page(jsonLd({ '@type': 'Product', name: 'Mug', offers: { price: '9.00' } }))];
  const documents = [document('shopify_products', { products: products(12) })];
  expect(facts({ storefrontCondition, pages, documents })).toMatchObject({
    pages: {},
    technologies: [],
    catalog: null,
    shows_products: false,
    shows_commerce: true,
  });
  expect(facts({ storefrontCondition, pages, documents }, NOTHING).shows_commerce).toBe(false);
});

test.each([
  [[301], 'https://acme.com/', 'acme.com'],
  [[308, 301], 'https://www.acme.com/de', 'acme.com'],
  [[302], 'https://acme.com/', null],
  [[301, 302], 'https://acme.com/', null],
  [[301], 'https://www.example.com/', null],
  [[301], 'https://10.0.0.1/', null],
])('redirects %j to %s', (statuses, to, expected) => {
  const redirects = statuses.map((status) => ({ from: 'https://example.com/', to, status }));
  const { permanent_redirect, condition } = facts({ redirects });
  expect([permanent_redirect, condition]).toEqual([expected, expected === null ? 'open' : 'redirected']);
});

test('evidence is kept for replays, including platform data of endpoints', () => {
  const documents = [
    document('shopify_meta', { myshopify_domain: 'acme.myshopify.com' }),
    { ...document('shopify_products', {}), status: 404 },
  ];
  const { evidence } = describeStorefront(capture({ documents }), () => SEEN);
  expect(evidence.endpoints).toEqual({ shopify_meta: 'json', 'shopify.myshopify_domain': 'acme.myshopify.com' });
  expect(evidence.pages).toHaveLength(1);
});

test('texts that the database cannot store are repaired: U+0000 and lone surrogates', () => {
  const cut = `${'x'.repeat(199)}😀 and more`;
  const html = `<html lang="d\u0000e"><title>a\u0000b ${cut}</title><title>${cut}</title><meta property="og:site_name" content="Ac\0me">
    <meta name="n\0m" content="${cut}"><script src="/a\0b.js"></script><div data-a\0b="x" class="c\0d ${cut}"></div>
    ${jsonLd({ '@type': 'Organization', name: 'Acme\0 \ud800', url: 'https://example.com', vatID: 'DE\u0000123456789\udc00' })}
    <script>Shopify.theme = {"name":"Da\0wn \ud83d","schema_name":"${cut}"}; var u = "https://cdn.x.com/\0a"</script>
    <a href="/products/a\0b">x</a><link rel="alternate" hreflang="d\0e" href="https://acme.com/\0">`;
  const meta = { name: 'Ac\0me \ud800', country: 'DE', currency: 'EUR', myshopify_domain: 'acme.myshopify.com' };
  const documents = [document('shopify_meta', meta), document('shopify_products', { products: products(12) })];
  const described = describeStorefront(capture({ pages: [page(html)], documents, coverageNote: '\0' }), () => SEEN);
  expect(JSON.stringify(described)).not.toMatch(/\\u0000|\\ud[89a-f]/);
  expect(described.facts.name).toBe('Ac\uFFFDme \uFFFD');
  expect(observationFacts.parse(described.facts)).toEqual(described.facts);
});

/** Unexpected values in place of a text or number. */
const oddity = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1e308,
    5e-324,
    2 ** 53,
    '1e308',
    '-1',
    'NaN',
    '19.90',
    '',
    ' ',
    '\0',
    '\ud800',
    'EURO',
    'eu',
    'x'.repeat(10_000),
    [],
    {},
  ),
  fc.constantFrom<unknown>(
    '__proto__',
    'constructor',
    { __proto__: null },
    JSON.parse('{"__proto__":{"price":"1"},"constructor":1}'),
    '😀'.repeat(200),
  ),
  fc.string({ unit: anyCharacter }),
  fc.jsonValue({ maxDepth: 2 }),
);
const record = (...names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, oddity])), { requiredKeys: [] });
const oddProducts = fc.oneof(
  oddity,
  fc.array(
    fc.record({
      id: fc.oneof(fc.integer({ min: 1, max: 30 }), oddity),
      title: oddity,
      tags: oddity,
      product_type: oddity,
      variants: fc.oneof(oddity, fc.array(fc.record({ price: fc.oneof(fc.constant('19.90'), oddity), available: oddity }))),
    }),
    { maxLength: 40 },
  ),
);

test('facts are within their bounds for any data of a shop, and no scan fails', () => {
  fc.assert(
    fc.property(
      record('name', 'country', 'currency', 'published_products_count', 'myshopify_domain'),
      oddProducts,
      fc.record({ name: oddity, countryCode: oddity, myshopifyDomain: oddity, paymentSettings: record('currencyCode') }),
      record('name', 'url', '@id', 'vatID', 'telephone', 'address', 'sameAs'),
      oddity,
      (meta, items, shop, organization, offer) => {
        const html = `<script>initData: ${JSON.stringify({ shop })}</script>
          ${jsonLd({ ...organization, '@type': 'Organization' }, { '@type': 'Product', offers: offer })}`;
        const documents = [document('shopify_meta', meta), document('shopify_products', { products: items })];
        facts({ pages: [page(html)], documents });
      },
    ),
    {
      examples: [
        [
          {},
          products(12),
          { name: 'x', countryCode: '', myshopifyDomain: '', paymentSettings: { currencyCode: 'EURO' } },
          {},
          null,
        ],
        [{}, [], { name: 'x', countryCode: '', myshopifyDomain: '', paymentSettings: {} }, { vatID: 'D'.repeat(300) }, null],
      ],
    },
  );
});
