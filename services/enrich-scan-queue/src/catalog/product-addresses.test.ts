import { expect, test } from '@jest/globals';
import { distinctProducts, productPaths, subjectOf } from './product-addresses.ts';

const HOST = 'example.com';
const at = (...paths: string[]) => paths.map((path) => `https://www.example.com${path}`);
const countOf = (platform: string, subject: 'products' | 'unknown', addresses: readonly string[]) =>
  distinctProducts(productPaths(addresses, HOST, platform, subject), platform);

test.each([
  ['/sitemap_products_1.xml?from=1&to=2', 'products'],
  ['/product-sitemap2.xml', 'products'],
  ['/sitemap_1-product.xml', 'products'],
  ['https://example.com/sitemap-produkte.xml.gz', 'products'],
  ['/product_cat-sitemap.xml', 'other'],
  ['/product_tag-sitemap.xml', 'other'],
  ['/sitemap_collections_1.xml', 'other'],
  ['/blog-sitemap.xml', 'other'],
  ['/products/sitemap.xml', 'unknown'],
  ['/1_en_0_sitemap.xml', 'unknown'],
])('%s has %s', (file, subject) => {
  expect(subjectOf(file)).toBe(subject);
});

test.each([
  ['prestashop', at('/', '/2-home', '/content/1-legal', '/mugs/7-mug.html', '/fr/mugs/7-tasse.html', '/mugs/8-cup.html'), 2],
  ['opencart', at('/index.php?route=product/product&product_id=3', '/index.php?product_id=3&path=20', '/index.php?route=x'), 1],
  ['shopware', at('/Clothing/', '/Clothing/Women/', '/Rain-jacket/SW10012', '/detail/8ac3', '/imprint'), 2],
  ['ecwid', at('/store/mug-p123', '/fr/store/tasse-p123', '/store/mugs-c45', '/about'), 1],
  ['odoo', at('/shop', '/shop/category/desks-4', '/shop/desk-17', '/fr_BE/shop/bureau-17', '/shop/product/lamp-18'), 2],
  ['nuvemshop', at('/produtos/', '/produtos/caneca/', '/contato/'), 1],
  ['squarespace-commerce', at('/shop', '/shop/p/mug', '/blog/p-values'), 1],
  ['woocommerce', at('/shop/', '/product/mug/', '/produkt/tasse/'), 2],
  ['magento', at('/mugs.html', '/mug.html'), 0],
  ['unheard-of', at('/mug'), 0],
])('from a sitemap of all pages on %s, only addresses of products are taken', (platform, addresses, count) => {
  expect(countOf(platform, 'unknown', addresses)).toHaveLength(count);
});

test.each([
  ['a file of products is all products', at('/mug.html', '/cup.html'), ['/mug.html', '/cup.html']],
  ['with how the platform forms them, only those', at('/shop/', '/product/mug/'), ['/product/mug/']],
  [
    'translations are counted once',
    at('/mug', '/cup', '/de/tasse', '/de/becher', '/de/kanne'),
    ['/de/tasse', '/de/becher', '/de/kanne'],
  ],
  ['so are repetitions and views', at('/mug', '/mug/', '/mug?color=red', '/mug#top'), ['/mug']],
  [
    'other hosts, schemes and the home page are none',
    [
      'https://cdn.example.net/mug',
      'ftp://example.com/mug',
      'junk',
      '',
      `https://example.com/${'x'.repeat(3_000)}`,
      ...at('/', '/mug'),
    ],
    ['/mug'],
  ],
])('%s', (_, addresses, paths) => {
  expect(countOf('woocommerce', 'products', addresses)).toEqual(paths);
});
