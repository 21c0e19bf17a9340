import type { FixtureResponse } from '../closed-storefront.ts';
import {
  jsonResponse,
  majorUnits,
  productsOf,
  sitemapIndexResponse,
  sitemapResponse,
  type FixtureProduct,
  type FixtureRequest,
  type PlatformFixture,
  type Storefront,
} from '../storefront.ts';

const MAX_PAGE_SIZE = 250;
/** Shopify returns 400 beyond this many products, for any catalogue size. */
const PAGING_CAP = 25_000;
const shopName = (shop: Storefront) => `${shop.host.replaceAll('.', '-')}.myshopify.com`;

/** Online Store 2.0 with the theme Dawn; headers and inline scripts like those of public storefronts. */
export const shopify: PlatformFixture = {
  headers: {
    'powered-by': 'Shopify',
    'x-shopid': '61234567890',
    'x-sorting-hat-shopid': '61234567890',
    'x-shopify-stage': 'production',
    server: 'cloudflare',
    'cf-ray': '8a0b1c2d3e4f5a6b-FRA',
  },
  cookies: ['_shopify_y=9f1c; Path=/; SameSite=Lax', '_shopify_s=77aa; Path=/', 'cart_currency=EUR; Path=/'],
  head: (shop) => `<meta name="shopify-digital-wallet" content="/61234567890/digital_wallets/dialog">
<link rel="preconnect" href="https://cdn.shopify.com" crossorigin>
<link href="//${shop.host}/cdn/shop/t/12/assets/base.css?v=88290808517547527771" rel="stylesheet" type="text/css">
<script>var Shopify = Shopify || {};
Shopify.shop = "${shopName(shop)}";
Shopify.locale = "${shop.language}";
Shopify.currency = {"active":"${shop.currency}","rate":"1.0"};
Shopify.country = "${shop.country}";
Shopify.theme = {"name":"Live Theme","id":129383628956,"schema_name":"Dawn","schema_version":"15.2.0","theme_store_id":887,"role":"main"};
</script>
<script src="//${shop.host}/cdn/shop/t/12/assets/global.js?v=1" defer="defer"></script>
<script id="shopify-features" type="application/json">{"accessToken":"0a1b","betas":["rich-media-storefront-analytics"],"domain":"${shop.host}","predictiveSearch":true,"shopId":61234567890,"locale":"${shop.language}"}</script>`,
  bodyClass: 'gradient',
  bodyEnd: () => `<script>window.ShopifyAnalytics = window.ShopifyAnalytics || {};</script>`,
  collectionPath: '/collections/all',
  cartPath: '/cart',
  productPath: ({ handle }) => `/products/${handle}`,
  endpoint: shopifyEndpoint,
};

function shopifyEndpoint({ path, query }: FixtureRequest, shop: Storefront): FixtureResponse | undefined {
  if (path === '/meta.json')
    return jsonResponse({
      id: 61_234_567_890,
      name: shop.name,
      city: 'Berlin',
      country: shop.country,
      currency: shop.currency,
      domain: shop.host,
      url: `https://${shop.host}`,
      myshopify_domain: shopName(shop),
      money_format: '{{amount}}',
      published_collections_count: 1,
      published_products_count: shop.products,
      ships_to_countries: [shop.country],
    });
  if (path === '/sitemap.xml')
    return sitemapIndexResponse(shop, ['/sitemap_pages_1.xml', '/sitemap_products_1.xml?from=1&amp;to=9']);
  if (path === '/sitemap_products_1.xml') return sitemapResponse(shop, ({ handle }) => `/products/${handle}`, ['/']);
  if (path !== '/products.json') return undefined;
  const size = Math.min(Number(query.get('limit') ?? 30), MAX_PAGE_SIZE);
  const page = Number(query.get('page') ?? 1);
  if (size * page > PAGING_CAP)
    return { ...jsonResponse({ errors: `page: cannot be paginated beyond the ${PAGING_CAP} limit` }), status: 400 };
  return jsonResponse({
    products: productsOf(shop)
      .slice((page - 1) * size, page * size)
      .map(productJson),
  });
}

function productJson({ id, title, handle, type, priceMinor, available }: FixtureProduct) {
  return {
    id,
    title,
    handle,
    vendor: 'Own label',
    product_type: type,
    tags: [type.toLowerCase()],
    variants: [{ id: id * 10, title: 'Default Title', sku: `SKU-${id}`, available, price: majorUnits(priceMinor) }],
    images: [],
    options: [{ name: 'Title', position: 1, values: ['Default Title'] }],
  };
}
