import fc from 'fast-check';
import { describe, expect, test } from '@jest/globals';
import { catalogSourceOf, catalogSourceOfKind } from './catalog-sources.ts';
import type { CatalogContext, CatalogDocument, CatalogSource } from './catalog-page.ts';
import { shopSettings } from './shop-settings.ts';
import { oneCurrency, structuredProducts, takeCensus } from './take-census.ts';

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
])('%s is not a page and gives no census', (_, page) => {
  expect(shopify([page])).toBeUndefined();
});

test('a declared total that differs makes an ended catalogue partial', () => {
  const census = (productCount: number) => shopify([shopifyPage(items(100))], { currency: 'EUR', productCount })?.coverage;
  expect([100, 102, 98, 103, 5_000].map(census)).toEqual(['full', 'full', 'full', 'partial', 'partial']);
});

test('prices: the lowest available one; zero, negative, malformed and gift card prices are ignored', () => {
  const priced = (variants: unknown, more = {}) =>
    source('shopify').read(shopifyPage([shopifyItem(1, variants, more)]))?.products[0];
  expect(priced([variant('30.00'), variant('20.00', false)])).toMatchObject({ price: 30, isAvailable: true });
  expect(priced([variant('30.00', false), variant('20.00', false)])).toMatchObject({ price: 20, isAvailable: false });
  expect(priced([variant('0.00'), variant('-4'), variant('1e3'), variant('12,50'), variant({})])).toMatchObject({ price: null });
  expect(priced([variant('50.00')], { product_type: 'Gift Card' })).toMatchObject({ price: null });
  expect(priced('none')).toMatchObject({ price: null, isAvailable: null });
});

test('availability is null when one product does not state it', () => {
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

test('WooCommerce: minor units, totals in headers; three currencies give no currency', () => {
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

const UNKNOWN = { currency: null, productCount: null };

test('Squarespace: prices with their currency, also reduced ones; a store page is a part of the catalogue', () => {
  const money = (value: string, currency = 'EUR') => ({ value, currency });
  const item = (id: unknown, ...variants: object[]) => ({
    id,
    title: 'Mug',
    categories: ['Kitchen'],
    structuredContent: { variants },
  });
  const stocked = (value: string, more = {}) => ({ qtyInStock: 1, unlimited: false, priceMoney: money(value), ...more });
  const page = (items: unknown, more = {}) => document({ collection: { typeName: 'products' }, items, pagination: {}, ...more });
  const products = (...variants: object[]) => source('squarespace-commerce').read(page([item('a', ...variants)]))?.products[0];
  expect(products(stocked('24.00', { price: 2_400 }))).toMatchObject({ price: 24, currency: 'EUR', isAvailable: true });
  expect(products(stocked('24.00', { onSale: true, salePriceMoney: money('9.50') }))).toMatchObject({ price: 9.5 });
  expect(products({ priceMoney: money('3.00'), unlimited: true })).toMatchObject({ isAvailable: true });
  expect(products(stocked('3.00', { qtyInStock: 0 }))).toMatchObject({ isAvailable: false });
  // Contradictory statements, two currencies, and minor units of no currency.
  expect(products(stocked('24.00', { price: 1_900 }))).toMatchObject({ price: null });
  expect(products(stocked('24.00'), stocked('1.00', { priceMoney: money('1.00', 'USD') }))).toMatchObject({
    price: null,
    currency: null,
  });
  expect(products({ price: 2_400, qtyInStock: 1 })).toMatchObject({ price: null, currency: null });
  const census = (count: number, currencyOf: (i: number) => string = () => 'EUR') =>
    takeCensus(
      source('squarespace-commerce'),
      [
        page(
          Array.from({ length: count }, (_, i) => item(`p${i}`, stocked('10.00', { priceMoney: money('10.00', currencyOf(i)) }))),
        ),
      ],
      UNKNOWN,
    )?.census;
  expect([census(29), census(30)]).toMatchObject([
    { product_count: 29, currency: 'EUR', price_range: null, coverage: 'partial' },
    { product_count: 30, available_count: 30, price_range: { median: 10 }, coverage: 'partial' },
  ]);
  expect(census(60, (i) => ['EUR', 'USD', 'GBP'][i % 3] ?? '')).toMatchObject({ currency: null, price_range: null });
  const request = (page: number, context: CatalogContext) => source('squarespace-commerce').request(page, context);
  const from = (nextPageUrl: string) => ({
    collections: ['/shop'],
    previous: page([], { pagination: { nextPage: true, nextPageUrl } }),
  });
  expect([
    request(1, from('')),
    request(2, from('/shop?offset=200')),
    request(2, from('//evil.example/')),
    request(2, from('https://x/')),
  ]).toEqual(['/shop?format=json', '/shop?offset=200&format=json', undefined, undefined]);
  expect(request(1, { collections: [], previous: undefined })).toBeUndefined();
  for (const typeName of ['blog', 'page', undefined])
    expect(source('squarespace-commerce').read(page([], { collection: { typeName } }))).toBeUndefined();
});

test('Big Cartel: available options, and only an empty page is the end', () => {
  const item = (id: number, more = {}) => ({ id, name: 'Print', status: 'active', price: 20, ...more });
  const options = [{ id: 1, price: 12, sold_out: true }, { id: 2, price: 15.5, sold_out: false }]; // prettier-ignore
  const census = (...pages: unknown[][]) => takeCensus(source('big-cartel'), pages.map((page) => document(page)), { currency: 'USD', productCount: null }); // prettier-ignore
  const read = census([item(1, { options }), item(2, { status: 'sold-out' }), item(3, { status: 'coming-soon', price: 0 }), {}]);
  expect(read?.products.map(({ price, isAvailable }) => [price, isAvailable])).toEqual([
    [15.5, true],
    [20, false],
    [null, false],
  ]);
  expect(read?.census).toMatchObject({ product_count: 3, available_count: 1, currency: 'USD', coverage: 'first_page' });
  expect(census([item(1)], [])?.census).toMatchObject({ product_count: 1, coverage: 'full' });
  expect(census([item(1)], [item(1)])?.census).toMatchObject({ product_count: 1, coverage: 'partial' });
});

describe('addresses of a sitemap, with structured data of pages', () => {
  const product = (id: number, price: string | null, currency: string | null = 'EUR') => ({
    name: `Mug ${id}`,
    sku: `S${id}`,
    price,
    currency,
    highPrice: null,
    availability: null,
    category: 'Mugs',
  });
  const pageOf = (products: ReturnType<typeof product>[]) => ({ jsonLd: { products } });
  const range = (count: number) => Array.from({ length: count }, (_, i) => i);
  const paths = document(range(100).map((i) => `/p/${i}`));
  const census = (...pages: ReturnType<typeof pageOf>[]) => {
    const kind = catalogSourceOfKind('product_sitemap');
    return kind && takeCensus(kind, [paths], UNKNOWN, structuredProducts(pages))?.census;
  };
  const COUNTED = { product_count: 100, available_count: null, coverage: 'partial' };

  test('are counted; prices need 30 products that state one', () => {
    expect(census()).toEqual({ ...COUNTED, currency: null, price_range: null });
    expect(census(pageOf(range(29).map((i) => product(i, '5.00'))))).toEqual({ ...COUNTED, currency: 'EUR', price_range: null });
    expect(census(pageOf(range(20).map((i) => product(i, '5.00'))), pageOf(range(30).map((i) => product(i, '5.00'))))).toEqual({
      ...COUNTED,
      currency: 'EUR',
      price_range: { p25: 5, median: 5, p75: 5 },
    });
  });

  test.each([
    ['prices that are none', range(40).map((i) => product(i, ['0.00', '12,50', 'call us', null][i % 4] ?? null)), null],
    ['three currencies', range(60).map((i) => product(i, '5.00', ['EUR', 'USD', 'GBP'][i % 3])), null],
    ['no currency', range(40).map((i) => product(i, '5.00', null)), null],
  ])('%s give no statistics', (_, products, currency) => {
    expect(census(pageOf(products))).toEqual({ ...COUNTED, currency, price_range: null });
  });

  test('contradictory prices of two pages are ignored', () => {
    const [one] = structuredProducts([pageOf([product(1, '5.00')]), pageOf([product(1, '6.00')])]);
    expect(one).toMatchObject({ price: null, currency: null });
    expect(oneCurrency(structuredProducts([pageOf([product(1, '5', 'EUR'), product(2, '6', 'USD')])]))).toBeNull();
  });
});

test('requests of pages differ, and a kind names its source', () => {
  const context = { collections: ['/shop'], previous: document({ pagination: { nextPageUrl: '/shop?offset=200' } }) };
  for (const platform of ['shopify', 'woocommerce', 'magento', 'vtex', 'squarespace-commerce', 'big-cartel']) {
    const one = source(platform);
    expect(one.request(1, context)).not.toBe(one.request(2, context));
    expect(catalogSourceOfKind(one.kind)).toBe(one);
  }
  expect(catalogSourceOf('constructor')).toBeUndefined();
});

test('any input of a storefront is read without throwing, and counts stay consistent', () => {
  const kinds = ['shopify', 'woocommerce', 'magento', 'vtex', 'bigcommerce', 'squarespace-commerce', 'big-cartel'];
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

test('settings: only statements of the shop, never a guess by form alone', () => {
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
