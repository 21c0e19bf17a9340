import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { catalogSourceOf, catalogSourceOfKind } from './catalog-sources.ts';
import type { CatalogDocument, CatalogSource } from './catalog-page.ts';
import { shopSettings } from './shop-settings.ts';
import { takeCensus } from './take-census.ts';

function source(platform: string): CatalogSource {
  const found = catalogSourceOf(platform);
  if (found === undefined) throw new Error(platform);
  return found;
}
const document = (body: unknown, more: Partial<CatalogDocument> = {}): CatalogDocument => ({
  url: 'https://example.com/x',
  status: 200,
  headers: {},
  body,
  ...more,
});
const variant = (price: unknown, available: unknown = true) => ({ id: 1, price, available });
const shopifyItem = (id: unknown, variants: unknown = [variant('10.00')], more = {}) => ({
  id,
  title: `Shirt ${String(id)}`,
  variants,
  ...more,
});
const shopifyPage = (items: readonly unknown[], more: Partial<CatalogDocument> = {}) => document({ products: items }, more);
const items = (count: number, from = 1) =>
  Array.from({ length: count }, (_, i) => shopifyItem(from + i, [variant(String(from + i))]));
const SETTINGS = { currency: 'EUR', productCount: null };
const shopify = (
  pages: readonly CatalogDocument[],
  settings: { currency: string | null; productCount: number | null } = SETTINGS,
) => takeCensus(source('shopify'), pages, settings)?.census;

test.each([
  ['a short first page is the whole catalogue', [shopifyPage(items(8))], { product_count: 8, coverage: 'full' }],
  ['a full first page is a lower bound', [shopifyPage(items(250))], { product_count: 250, coverage: 'first_page' }],
  [
    'a short second page ends it',
    [shopifyPage(items(250)), shopifyPage(items(20, 251))],
    { product_count: 270, coverage: 'full' },
  ],
  ['so does an empty one', [shopifyPage(items(250)), shopifyPage([])], { product_count: 250, coverage: 'full' }],
  [
    'two full pages have not ended',
    [shopifyPage(items(250)), shopifyPage(items(250, 251))],
    { product_count: 500, coverage: 'partial' },
  ],
  [
    'a refused page stops it early',
    [shopifyPage(items(250)), shopifyPage([], { status: 429 })],
    { product_count: 250, coverage: 'partial' },
  ],
  [
    'what follows a gap does not count',
    [shopifyPage(items(250)), document('<html>'), shopifyPage(items(5, 900))],
    { product_count: 250 },
  ],
  ['repeated products count once', [shopifyPage([...items(5), ...items(5)])], { product_count: 5, coverage: 'full' }],
  [
    'items without an id are none',
    [shopifyPage([shopifyItem(null), shopifyItem({}), shopifyItem(''), 'x', null])],
    { product_count: 0 },
  ],
  ['an empty list of a working endpoint is 0', [shopifyPage([])], { product_count: 0, available_count: 0, price_range: null }],
])('%s', (_, pages, expected) => {
  expect(shopify(pages)).toMatchObject(expected);
});

test.each([
  ['an error page', document('<html>')],
  ['another document', document({ items: [] })],
  ['a status of failure', shopifyPage(items(3), { status: 503 })],
  ['null', document(null)],
  ['a list in the place of an object', document([1])],
])('%s is no page, and no census comes of it', (_, page) => {
  expect(shopify([page])).toBeUndefined();
});

test('a declared total that differs makes an ended catalogue partial', () => {
  const census = (productCount: number) => shopify([shopifyPage(items(100))], { currency: 'EUR', productCount })?.coverage;
  expect([100, 102, 98, 103, 5_000].map(census)).toEqual(['full', 'full', 'full', 'partial', 'partial']);
});

test('prices: the lowest that can be bought, none that are free, negative, broken or of gift cards', () => {
  const priced = (variants: unknown, more = {}) =>
    source('shopify').read(shopifyPage([shopifyItem(1, variants, more)]))?.products[0];
  expect(priced([variant('30.00'), variant('20.00', false)])).toMatchObject({ price: 30, isAvailable: true });
  expect(priced([variant('30.00', false), variant('20.00', false)])).toMatchObject({ price: 20, isAvailable: false });
  expect(priced([variant('0.00'), variant('-4'), variant('1e3'), variant('12,50'), variant({})])).toMatchObject({ price: null });
  expect(priced([variant('50.00')], { product_type: 'Gift Card' })).toMatchObject({ price: null });
  expect(priced('none')).toMatchObject({ price: null, isAvailable: null });
});

test('availability is null when one product does not say it', () => {
  expect(shopify([shopifyPage([...items(9), shopifyItem(99, [{ price: '1' }])])])?.available_count).toBeNull();
  expect(shopify([shopifyPage([...items(9), shopifyItem(99, [variant('1', false)])])])?.available_count).toBe(9);
});

test.each([
  [7, 'EUR', null],
  [8, 'EUR', { p25: 2.75, median: 4.5, p75: 6.25 }],
  [8, 'JPY', { p25: 3, median: 5, p75: 6 }],
  [8, null, null],
])('quartiles of %d prices in %s', (count, currency, range) => {
  const prices = Array.from({ length: count }, (_, i) => shopifyItem(i + 1, [variant(String(i + 1))]));
  expect(shopify([shopifyPage(prices)], { currency, productCount: null })).toMatchObject({ currency, price_range: range });
});

test('a lower bound of a catalogue needs more prices: 20 of a first page, 30 of a part', () => {
  const priced = (count: number) => [
    ...items(count),
    ...Array.from({ length: 250 - count }, (_, i) => shopifyItem(1_000 + i, [])),
  ];
  const ranges = [19, 20].map((count) => shopify([shopifyPage(priced(count))])?.price_range !== null);
  const parts = [29, 30].map(
    (count) => shopify([shopifyPage(priced(count)), shopifyPage([], { status: 500 })])?.price_range !== null,
  );
  expect([ranges, parts]).toEqual([
    [false, true],
    [false, true],
  ]);
});

test('WooCommerce: minor units, totals in headers; three currencies are none', () => {
  const product = (id: number, currency = 'EUR', more = {}) => ({
    id,
    name: 'Mug',
    categories: [{ name: 'Kitchen' }],
    prices: { price: '1990', currency_code: currency, currency_minor_unit: 2 },
    is_purchasable: true,
    is_in_stock: id % 2 === 0,
    ...more,
  });
  const census = (list: unknown[], total = String(list.length)) =>
    takeCensus(source('woocommerce'), [document(list, { headers: { 'x-wp-total': total } })], {
      currency: null,
      productCount: null,
    })?.census;
  const ten = Array.from({ length: 10 }, (_, i) => product(i));
  expect(census(ten)).toEqual({
    product_count: 10,
    available_count: 5,
    currency: 'EUR',
    price_range: { p25: 19.9, median: 19.9, p75: 19.9 },
    coverage: 'full',
  });
  expect(census(ten, '700')?.coverage).toBe('partial');
  expect(census(ten.map((_, i) => product(i, ['EUR', 'USD', 'GBP'][i % 3])))).toMatchObject({
    currency: null,
    price_range: null,
  });
  expect(census([product(1, 'EUR', { prices: { price: '5', currency_minor_unit: 400 } })])).toMatchObject({ currency: null });
});

test('Magento, VTEX and sitemaps', () => {
  const settings = { currency: null, productCount: null };
  const magento = document({
    data: {
      storeConfig: { base_currency_code: 'PLN', store_name: 'Sklep' },
      products: {
        total_count: 1,
        items: [
          {
            uid: 'MQ==',
            name: 'Mug',
            stock_status: 'IN_STOCK',
            price_range: { minimum_price: { final_price: { value: 9, currency: 'PLN' } } },
          },
        ],
      },
    },
  });
  expect(takeCensus(source('magento'), [magento], settings)?.census).toMatchObject({
    product_count: 1,
    available_count: 1,
    currency: 'PLN',
    coverage: 'full',
  });
  const vtex = document(
    [{ productId: '5', productName: 'Bola', items: [{ sellers: [{ commertialOffer: { Price: 5.5, AvailableQuantity: 0 } }] }] }],
    {
      status: 206,
      headers: { resources: '0-49/320' },
    },
  );
  expect(takeCensus(source('vtex'), [vtex], settings)?.census).toMatchObject({
    product_count: 1,
    available_count: 0,
    coverage: 'partial',
  });
  const sitemap = document(
    '<urlset><url><loc>https://example.com/a?x=1&amp;y=2</loc></url><url><loc>https://example.com/b</loc></url><loc>junk',
  );
  const read = takeCensus(source('bigcommerce'), [sitemap], settings);
  expect(read?.census).toEqual({
    product_count: 2,
    available_count: null,
    currency: null,
    price_range: null,
    coverage: 'partial',
  });
  expect(read?.products[0]?.id).toBe('https://example.com/a?x=1&y=2');
});

test('requests of pages differ, and a kind names its source', () => {
  for (const platform of ['shopify', 'woocommerce', 'magento', 'vtex']) {
    const one = source(platform);
    expect(one.request(1)).not.toBe(one.request(2));
    expect(catalogSourceOfKind(one.kind)).toBe(one);
  }
  expect(catalogSourceOf('constructor')).toBeUndefined();
});

test('whatever a storefront sends, reading it does not throw and counts stay consistent', () => {
  const kinds = ['shopify', 'woocommerce', 'magento', 'vtex', 'bigcommerce'];
  const key = fc.constantFrom(
    'products',
    'data',
    'items',
    'id',
    'uid',
    'productId',
    'variants',
    'prices',
    'price',
    'sellers',
    'available',
    '__proto__',
  );
  const body = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 6 },
      fc.jsonValue(),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 4 }),
    ),
  })).any;
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.array(body, { maxLength: 3 }), (platform, bodies) => {
      const read = takeCensus(
        source(platform),
        bodies.map((one) => document(one)),
        SETTINGS,
      );
      if (read === null) return;
      expect(read.census.product_count).toBe(new Set(read.products.map(({ id }) => id)).size);
      expect(read.census.available_count ?? 0).toBeLessThanOrEqual(read.census.product_count);
    }),
  );
});

test('settings: what the shop states of itself, and nothing by its form alone', () => {
  const meta = (body: unknown) => shopSettings([{ kind: 'shopify_meta', ...document(body) }]);
  expect(
    meta({
      name: ' Acme ',
      country: 'DE',
      currency: 'eur',
      published_products_count: 62,
      myshopify_domain: 'acme.myshopify.com',
    }),
  ).toEqual({
    name: 'Acme',
    country: 'DE',
    currency: 'EUR',
    productCount: 62,
    shopId: { platform: 'shopify', id: 'acme.myshopify.com' },
  });
  expect(meta({ currency: 'EURO', published_products_count: -1, myshopify_domain: 'acme.com' })).toMatchObject({
    currency: null,
    productCount: null,
    shopId: null,
  });
  expect(shopSettings([])).toMatchObject({ name: null, shopId: null });
});
