import { expect, test } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { createSecureContext } from 'node:tls';
import { STOREFRONT_BEHAVIOURS, type StorefrontBehaviour } from './closed-storefront.ts';
import { startStorefronts, type Storefronts } from './start-storefronts.ts';
import { createTestCertificate } from './test-certificate.ts';
import { STOREFRONT_PLATFORMS } from './storefront.ts';

const CATALOGUES: Readonly<Record<string, string>> = {
  shopify: '/products.json?limit=250&page=2',
  woocommerce: '/wp-json/wc/store/v1/products?per_page=100&page=4',
  magento: '/graphql?query=%7Bproducts(search%3A%22%22%2CpageSize%3A300%2CcurrentPage%3A2)%7Btotal_count%7D%7D',
  bigcommerce: '/xmlsitemap.php?type=products&page=1',
  'squarespace-commerce': '/shop?format=json',
  'wix-stores': '/store-products-sitemap.xml',
  vtex: '/api/catalog_system/pub/products/search?_from=0&_to=49',
  'big-cartel': '/products.json',
  'salesforce-commerce-cloud': '/sitemap_1-product.xml',
};

function get(storefronts: Storefronts, host: string, path: string, scheme: 'http' | 'https' = 'http') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const target = { host: storefronts.address, path, headers: { host }, agent: false } as const;
    const request =
      scheme === 'http'
        ? httpRequest({ ...target, port: storefronts.httpPort })
        : httpsRequest({ ...target, port: storefronts.httpsPort, servername: host, ca: storefronts.ca });
    request.on('error', reject);
    request.on('response', (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))),
      );
    });
    request.end();
  });
}

test('storefronts of all platforms serve home, collection, product, cart, and their catalogue, over http and https', async () => {
  const hostOf = (platform: string) => `${platform}.example.com`;
  await using storefronts = await startStorefronts(
    STOREFRONT_PLATFORMS.map((platform) => ({ host: hostOf(platform), platform, products: 320, technologies: ['klaviyo'] })),
  );
  for (const platform of STOREFRONT_PLATFORMS.filter((one) => one !== 'none')) {
    const home = await get(storefronts, hostOf(platform), '/', 'https');
    const paths = [...home.body.matchAll(/<a href="(\/[^"]*)"/g)].map(([, path = '']) => path.replace(/#.*/, ''));
    expect(paths.length).toBeGreaterThan(20);
    expect(home.body).toContain('static.klaviyo.com');
    for (const path of paths.filter((path) => path !== '/pages/about').slice(0, 5))
      expect({ platform, path, status: (await get(storefronts, hostOf(platform), path)).status }).toEqual({
        platform,
        path,
        status: 200,
      });
    const catalogue = CATALOGUES[platform];
    if (catalogue !== undefined) {
      const { status, body } = await get(storefronts, hostOf(platform), catalogue);
      expect({ platform, status: Math.floor(status / 100) }).toEqual({ platform, status: 2 });
      if (body.startsWith('<')) expect(body.match(/<loc>/g)).toHaveLength(320);
      else expect(JSON.parse(body)).toBeTruthy();
    }
  }
  const second = await get(storefronts, hostOf('shopify'), '/products.json?limit=250&page=2');
  expect((JSON.parse(second.body) as { products: unknown[] }).products).toHaveLength(70);
  expect((await get(storefronts, hostOf('shopify'), '/products.json?limit=250&page=101')).status).toBe(400);
  expect((await get(storefronts, 'unknown.example.com', '/')).status).toBe(421);
});

test('every behaviour answers, and robots.txt stays readable behind a bot defence', async () => {
  await using storefronts = await startStorefronts([{ host: 'example.com' }]);
  for (const behaviour of Object.keys(STOREFRONT_BEHAVIOURS) as StorefrontBehaviour[]) {
    storefronts.change('example.com', { behaviour });
    const [home, robots] = [await get(storefronts, 'example.com', '/'), await get(storefronts, 'example.com', '/robots.txt')];
    expect(home.status).toBeGreaterThanOrEqual(200);
    if (behaviour.includes('challenge') && behaviour !== 'challenged-after-home') expect(robots.status).toBe(200);
  }
});

test('a storefront changes its vendors and its platform while it runs', async () => {
  await using storefronts = await startStorefronts([{ host: 'example.com', platform: 'shopify' }]);
  storefronts.change('example.com', { technologies: ['gorgias'] });
  expect((await get(storefronts, 'example.com', '/')).body).toContain('config.gorgias.chat');
  storefronts.change('example.com', { platform: 'woocommerce' });
  const { body, headers } = await get(storefronts, 'example.com', '/');
  expect(body).toContain('/wp-content/plugins/woocommerce/');
  expect(body).toContain('config.gorgias.chat');
  expect(headers['powered-by']).toBeUndefined();
});

test('certificates load with any length of their signatures', () => {
  const signedBy = createTestCertificate({ names: ['authority'], isAuthority: true });
  for (let length = 1; length <= 64; length += 1)
    for (const name of ['a.example.com', 'b.example.com'])
      expect(
        createSecureContext(createTestCertificate({ names: [name.padStart(length + name.length, 'x')], signedBy })),
      ).toBeDefined();
});
