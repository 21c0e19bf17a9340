import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStorefronts, type Storefronts } from '@vitrine/testkit/storefronts/start-storefronts';
import type { StorefrontOptions } from '@vitrine/testkit/storefronts/storefront';
import type { ScanCapture } from '../scan/scan-ports.ts';
import { scanFixture, type FixtureScanOptions } from './testing/scan-fixture.ts';

const HOST = 'example.com';
let storefronts: Storefronts;

beforeAll(async () => {
  storefronts = await startStorefronts([{ host: HOST }, { host: 'example.net', name: 'Elsewhere' }]);
});
afterAll(async () => {
  await storefronts[Symbol.asyncDispose]();
});

async function scan(storefront: Omit<StorefrontOptions, 'host'>, options: FixtureScanOptions = {}) {
  storefronts.add({ host: HOST, ...storefront });
  const before = storefronts.received.length;
  const scanned = await scanFixture(HOST, { loopbackHosts: storefronts.loopbackHosts, ca: storefronts.ca, ...options });
  return { ...scanned, requests: storefronts.received.slice(before) };
}

function captureOf({ result }: Awaited<ReturnType<typeof scan>>): ScanCapture {
  if ('outcome' in result) throw new Error(`the scan ended as an attempt: ${JSON.stringify(result)}`);
  return result;
}

const summary = ({ scope, storefrontCondition, pages, documents }: ScanCapture) => ({
  scope,
  storefrontCondition,
  pages: pages.map(({ pageClass }) => pageClass).join(' '),
  documents: documents.map(({ kind }) => kind).join(' '),
});

test.each([
  ['shopify', 'shopify_meta shopify_products', 'home collection product cart'],
  ['woocommerce', 'woocommerce_products', 'home collection product cart'],
  ['magento', 'magento_products', 'home collection product'],
  ['bigcommerce', 'bigcommerce_sitemap', 'home collection product cart'],
  ['salesforce-commerce-cloud', 'product_sitemap', 'home collection product cart'],
  ['prestashop', 'product_sitemap', 'home collection product cart'],
  ['opencart', 'product_sitemap', 'home collection product cart'],
  ['squarespace-commerce', 'squarespace_products', 'home collection product cart'],
  ['wix-stores', 'wix_sitemap', 'home collection product cart'],
  ['shopware', 'product_sitemap', 'home collection product'],
  ['ecwid', 'product_sitemap', 'home collection product cart'],
  ['vtex', 'vtex_products', 'home collection product'],
  ['big-cartel', 'big_cartel_products', 'home collection product cart'],
  ['nuvemshop', 'product_sitemap', 'home collection product cart'],
  ['odoo', 'product_sitemap', 'home collection product cart'],
] as const)(
  'a storefront of %s is read: robots.txt, home, catalogue, then a page of each class',
  async (platform, documents, pages) => {
    const scanned = await scan({ platform, products: 30 });
    const read = summary(captureOf(scanned));
    expect({ ...read, pages: read.pages.split(' ').slice(0, 1) }).toEqual({
      scope: read.scope,
      storefrontCondition: 'open',
      pages: ['home'],
      documents,
    });
    expect(captureOf(scanned)).toMatchObject({ domain: HOST, storefrontHost: HOST });
    expect({ platform, pages: read.pages, scope: read.scope }).toEqual({ platform, pages, scope: 'full' });
    const paths = scanned.requests.map(({ path }) => path);
    expect(paths.slice(0, 2)).toEqual(['/robots.txt', '/']);
    expect(scanned.turns).toHaveLength(paths.length);
    expect(new Set(scanned.turns.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
    for (const { headers } of scanned.requests) {
      expect(headers['user-agent']).toBe('Mozilla/5.0 (compatible; VitrineBot/test; +https://example.com/scanner)');
      expect(headers['cookie']).toBeUndefined();
    }
  },
);

test('names of cookies are kept, but no values', async () => {
  const capture = captureOf(await scan({ platform: 'magento' }));
  expect(capture.pages[0]?.cookies).toEqual(['PHPSESSID', 'X-Magento-Vary', 'mage-messages']);
  expect(JSON.stringify(capture)).not.toContain('9bf9a599');
});

test('catalogue pages are read up to the depth, and no further than the catalogue', async () => {
  const pagesOf = async (products: number, maxCataloguePages: number) =>
    captureOf(await scan({ platform: 'shopify', products }, { limits: { maxCataloguePages } })).documents.filter(
      ({ kind }) => kind === 'shopify_products',
    ).length;
  expect([await pagesOf(1_000, 1), await pagesOf(1_000, 3), await pagesOf(300, 9), await pagesOf(250, 9)]).toEqual([1, 3, 2, 2]);
});

const sitemapOf = (capture: ScanCapture) =>
  capture.documents.find(({ kind }) => kind === 'product_sitemap')?.body as unknown[] | undefined;

test.each(['salesforce-commerce-cloud', 'prestashop', 'opencart', 'shopware', 'ecwid', 'nuvemshop', 'odoo'] as const)(
  'products of %s are counted by its sitemap, each once: an index, translations, categories and files of gzip',
  async (platform) => {
    const capture = captureOf(await scan({ platform, products: 30 }));
    expect(sitemapOf(capture)).toHaveLength(30);
    expect(capture.coverageNote).toContain('Products are those that the sitemap names.');
  },
);

test('a shop that has closed its endpoint is counted by its sitemap', async () => {
  const capture = captureOf(await scan({ platform: 'shopify', products: 30, robots: 'User-agent: *\nDisallow: /products.json' }));
  expect(summary(capture)).toMatchObject({ documents: 'shopify_meta product_sitemap', scope: 'full' });
  expect(sitemapOf(capture)).toHaveLength(30);
});

test.each([
  ['that robots.txt excludes', 'User-agent: *\nDisallow: /1_index_sitemap.xml\nSitemap: https://example.com/1_index_sitemap.xml'],
  ['on another host', 'Sitemap: https://cdn.example.net/sitemap.xml'],
  ['that is a page', 'Sitemap: https://example.com/2-home'],
])('a sitemap %s is ignored', async (_, robots) => {
  const scanned = await scan({ platform: 'prestashop', products: 30, robots });
  expect(captureOf(scanned)).toMatchObject({ scope: 'full', documents: [] });
  expect(scanned.requests.every(({ host }) => host === HOST)).toBe(true);
});

test('store pages of Squarespace are read by their links', async () => {
  const capture = captureOf(
    await scan({ platform: 'squarespace-commerce', products: 450 }, { limits: { maxCataloguePages: 5 } }),
  );
  expect(capture.documents.map(({ url }) => new URL(url).search)).toEqual([
    '?format=json',
    '?offset=200&format=json',
    '?offset=400&format=json',
  ]);
});

test('totals in headers are kept with the document', async () => {
  const [document] = captureOf(await scan({ platform: 'woocommerce', products: 130 })).documents;
  expect(document?.headers).toMatchObject({ 'x-wp-total': '130', 'x-wp-totalpages': '2' });
});

test('a class that robots.txt excludes is not planned, and is not requested', async () => {
  const scanned = await scan({ platform: 'shopify', robots: 'User-agent: *\nDisallow: /cart\nCrawl-delay: 3' });
  expect(captureOf(scanned)).toMatchObject({ scope: 'full', coverageNote: 'robots.txt excludes the cart page.' });
  expect(scanned.requests.filter(({ path }) => path.startsWith('/cart'))).toEqual([]);
  expect(scanned.slowdowns).toEqual([[HOST, 'crawl_delay', 3_000]]);
});

test('for a home page without links the standard pages of the platform are read', async () => {
  expect(summary(captureOf(await scan({ platform: 'shopify', linked: false }))).pages).toBe('home collection product cart');
});

test('a site that sells nothing is read as far as possible', async () => {
  expect(summary(captureOf(await scan({ platform: 'none' })))).toMatchObject({
    scope: 'homepage_only',
    pages: 'home',
    documents: '',
  });
});

test('a missing robots.txt allows all', async () => {
  expect(captureOf(await scan({ platform: 'shopify', robots: null })).scope).toBe('full');
});

// Spec: S8.3: blocked, challenged, throttled, robots-denied and failed are attempts, never observations.
test.each([
  ['cloudflare-challenge', { outcome: 'blocked', reason: 'challenged' }],
  ['akamai-denied', { outcome: 'blocked', reason: 'challenged' }],
  ['datadome-captcha', { outcome: 'blocked', reason: 'challenged' }],
  ['perimeterx-captcha', { outcome: 'blocked', reason: 'challenged' }],
  ['imperva-incident', { outcome: 'blocked', reason: 'challenged' }],
  ['aws-waf-challenge', { outcome: 'blocked', reason: 'challenged' }],
  ['vercel-challenge', { outcome: 'blocked', reason: 'challenged' }],
  ['queue', { outcome: 'blocked', reason: 'challenged' }],
  ['throttled', { outcome: 'blocked', reason: 'throttled', retryAfterMs: 120_000 }],
  ['unavailable', { outcome: 'blocked', reason: 'throttled', retryAfterMs: 30_000 }],
  ['robots-denied', { outcome: 'blocked', reason: 'robots_denied' }],
  ['robots-unavailable', { outcome: 'failed', reason: 'robots_unavailable' }],
  ['empty', { outcome: 'failed', reason: 'not_html' }],
  ['json-home', { outcome: 'failed', reason: 'not_html' }],
] as const)('%s is an attempt', async (behaviour, attempt) => {
  const { result, requests } = await scan({ behaviour });
  expect(result).toMatchObject(attempt);
  expect(requests.length).toBeLessThanOrEqual(3);
});

test.each(['password', 'closed', 'parked', 'login'] as const)('%s is an observation of that status alone', async (behaviour) => {
  const capture = captureOf(await scan({ behaviour }));
  expect(capture.storefrontCondition).toBe(behaviour === 'login' ? 'password' : behaviour);
  expect(summary(capture)).toMatchObject({ scope: 'homepage_only', pages: '', documents: '' });
  expect(capture.coverageNote).not.toBeNull();
});

test('a challenge after the home page ends the scan at once with a smaller scope and a note', async () => {
  const scanned = await scan({ behaviour: 'challenged-after-home' });
  expect(captureOf(scanned)).toMatchObject({
    scope: 'homepage_only',
    coverageNote: expect.stringContaining('A bot defence stopped the scan'),
  });
  expect(scanned.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/', '/meta.json']);
});

test('a domain that moved is recorded with its redirects, and the other storefront is not read', async () => {
  const scanned = await scan({ behaviour: 'moved', movedTo: 'https://example.net/' });
  expect(captureOf(scanned)).toMatchObject({
    storefrontHost: 'example.net',
    storefrontCondition: 'redirected',
    pages: [],
    redirects: [{ from: `https://${HOST}/`, to: 'https://example.net/', status: 301 }],
  });
  expect(scanned.requests.map(({ host, path }) => `${host}${path}`)).toEqual([
    `${HOST}/robots.txt`,
    'example.net/robots.txt',
    `${HOST}/`,
    'example.net/robots.txt',
    'example.net/',
  ]);
});

test('the gate postpones a scan before its home page, and ends it afterwards', async () => {
  expect((await scan({}, { delayedFrom: 2 })).result).toEqual({ outcome: 'delayed', retryAfterMs: 1_000 });
  expect(captureOf(await scan({}, { delayedFrom: 5 }))).toMatchObject({
    coverageNote: expect.stringContaining('busy with other scans'),
  });
});

test('an aborted scan is an attempt that timed out', async () => {
  const signal = AbortSignal.abort(new DOMException('the deadline of the scan', 'TimeoutError'));
  expect((await scan({}, { signal })).result).toMatchObject({ outcome: 'failed', reason: 'timed_out' });
});

test('a scan that is aborted after its home page leaves nothing', async () => {
  const abort = new AbortController();
  const scanned = await scan(
    {},
    { signal: abort.signal, onTurn: (turn) => turn === 3 && abort.abort(new Error('the process stops')) },
  );
  expect(scanned.result).toMatchObject({ outcome: 'failed', reason: 'timed_out' });
});

test('a scan that reaches its deadline after the home page keeps the pages read, with a note', async () => {
  const slow = new Promise<never>(() => {});
  const scanned = await scan({}, { limits: { scanTimeoutMs: 3_000 }, onTurn: (turn) => (turn >= 4 ? slow : undefined) });
  // If the machine pauses for longer than the deadline, even the home page is not read.
  if ('outcome' in scanned.result) expect(scanned.result).toMatchObject({ outcome: 'failed', reason: 'timed_out' });
  else expect(scanned.result).toMatchObject({ coverageNote: expect.stringContaining('The time of the scan was over.') });
});

test('a domain without an address, and one with a private address', async () => {
  expect((await scanFixture('example.org', {})).result).toMatchObject({ outcome: 'failed', reason: 'dns' });
});
