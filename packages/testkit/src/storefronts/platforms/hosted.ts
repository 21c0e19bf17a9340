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

const VTEX_PAGE_SIZE = 50;
const VTEX_LAST_OFFSET = 2500;

export const bigcommerce: PlatformFixture = {
  cookies: ['SHOP_SESSION_TOKEN=4f2a; Path=/; HttpOnly', 'fornax_anonymousId=4d1c; Path=/', 'XSRF-TOKEN=9a; Path=/'],
  head: () => `<meta name="platform" content="bigcommerce.stencil">
<link rel="preconnect" href="https://cdn11.bigcommerce.com">
<link data-stencil-stylesheet href="https://cdn11.bigcommerce.com/s-a1b2c3d4e5/stencil/7f3e/css/theme.css" rel="stylesheet">
<script>var BCData = {"csrf_token":"9a"};</script>
<script type="text/javascript" src="https://cdn11.bigcommerce.com/s-a1b2c3d4e5/stencil/7f3e/dist/theme-bundle.main.js"></script>`,
  collectionPath: '/shop-all/',
  cartPath: '/cart.php',
  productPath: ({ handle }) => `/${handle}/`,
  endpoint: ({ path, query }, shop) => {
    if (path !== '/xmlsitemap.php') return undefined;
    if (query.get('type') === 'products') return sitemapResponse(shop, ({ handle }) => `/${handle}/`);
    return sitemapResponse({ ...shop, products: 1 }, () => '/xmlsitemap.php?type=products&amp;page=1');
  },
};

export const salesforce: PlatformFixture = {
  headers: { 'x-dw-request-base-id': 'YVBbkbT8RmcBAAB_' },
  cookies: ['dwsid=aZ9; Path=/; HttpOnly', 'dwanonymous_7f=bc; Path=/', 'dwac_cd=1; Path=/'],
  head: ({
    host,
  }) => `<link rel="stylesheet" href="https://${host}/on/demandware.static/Sites-Main-Site/-/en_US/v1731409200/css/global.css">
<script defer src="https://${host}/on/demandware.static/Sites-Main-Site/-/en_US/v1731409200/js/main.js"></script>`,
  bodyEnd: ({ host }) => `<form action="https://${host}/on/demandware.store/Sites-Main-Site/en_US/Search-Show"></form>`,
  collectionPath: '/c/new-arrivals',
  cartPath: '/cart',
  productPath: ({ id, handle }) => `/p/${handle}/${id}.html`,
  sitemap: '/sitemap_index.xml',
  endpoint: ({ path }, shop) => {
    if (path === '/sitemap_index.xml') return sitemapIndexResponse(shop, ['/sitemap_0-category.xml', '/sitemap_1-product.xml']);
    if (path === '/sitemap_0-category.xml') return sitemapResponse({ ...shop, products: 0 }, () => '', ['/c/new-arrivals.html']);
    return path === '/sitemap_1-product.xml' ? sitemapResponse(shop, ({ id, handle }) => `/p/${handle}/${id}.html`) : undefined;
  },
};

export const squarespace: PlatformFixture = {
  headers: { server: 'Squarespace', 'x-contextid': 'aB3dE6' },
  cookies: ['crumb=BYXl; Path=/'],
  head: ({
    name,
  }) => `<script type="text/javascript" src="//assets.squarespace.com/universal/scripts-compressed/common-3f2a91c04be75d8a-min.en-US.js" defer></script>
<script type="text/javascript" src="//assets.squarespace.com/universal/scripts-compressed/commerce-9d8c1f0a2b3c4d5e-min.en-US.js" defer></script>
<script data-name="static-context">Static = window.Static || {}; Static.SQUARESPACE_CONTEXT = {"websiteId":"5f","websiteType":3,"website":{"siteTitle":"${name}"},"storeSettings":{"merchantLocale":"en_US"}};</script>`,
  collectionPath: '/shop',
  cartPath: '/cart',
  productPath: ({ handle }) => `/shop/p/${handle}`,
  endpoint: squarespaceStorePage,
};

const SQUARESPACE_PAGE_SIZE = 200;

function squarespaceStorePage({ path, query }: FixtureRequest, shop: Storefront): FixtureResponse | undefined {
  if (path !== '/shop' || query.get('format') !== 'json') return undefined;
  const offset = Number(query.get('offset') ?? 0);
  const all = productsOf(shop);
  const items = all.slice(offset, offset + SQUARESPACE_PAGE_SIZE).map(({ id, title, handle, type, priceMinor, available }) => ({
    id: String(id),
    title,
    fullUrl: `/shop/p/${handle}`,
    categories: [type],
    structuredContent: {
      variants: [
        {
          qtyInStock: available ? 5 : 0,
          unlimited: false,
          onSale: false,
          price: priceMinor,
          priceMoney: { currency: shop.currency, value: majorUnits(priceMinor) },
        },
      ],
    },
  }));
  const next = offset + SQUARESPACE_PAGE_SIZE;
  const pagination = next < all.length ? { nextPage: true, nextPageOffset: next, nextPageUrl: `/shop?offset=${next}` } : {};
  return jsonResponse({ collection: { typeName: 'products-v2' }, items, pagination });
}

export const wix: PlatformFixture = {
  headers: { server: 'Pepyaka', 'x-wix-request-id': '1731409200.1234' },
  cookies: ['XSRF-TOKEN=17; Path=/', 'hs=-1; Path=/', 'svSession=aa; Path=/'],
  head: () => `<meta name="generator" content="Wix.com Website Builder">
<script src="https://static.parastorage.com/services/wix-thunderbolt/dist/main.renderer.bundle.min.js" async></script>
<script type="application/json" id="wix-viewer-model">{"siteFeaturesConfigs":{},"appDefs":["1380b703-ce81-ff05-f115-39571d94dfcd"]}</script>`,
  collectionPath: '/category/all-products',
  cartPath: '/cart-page',
  productPath: ({ handle }) => `/product-page/${handle}`,
  endpoint: ({ path }, shop) =>
    path === '/store-products-sitemap.xml' ? sitemapResponse(shop, ({ handle }) => `/product-page/${handle}`) : undefined,
};

export const vtex: PlatformFixture = {
  headers: { server: 'VTEX IO', powered: 'vtex' },
  cookies: ['VtexWorkspace=master%3A-; Path=/', 'vtex_session=ey; Path=/; HttpOnly', 'vtex_segment=ey; Path=/'],
  head: () => `<link rel="stylesheet" href="https://fixture.vtexassets.com/_v/public/assets/v1/npm/style.min.css">
<script src="https://fixture.vtexassets.com/_v/public/assets/v1/bundle.min.js" crossorigin="anonymous"></script>`,
  bodyEnd: () => `<img src="https://fixture.vteximg.com.br/arquivos/ids/155/logo.png" alt="">`,
  collectionPath: '/apparel',
  cartPath: '/checkout/#/cart',
  productPath: ({ handle }) => `/${handle}/p`,
  endpoint: vtexSearch,
};

function vtexSearch({ path, query }: FixtureRequest, shop: Storefront): FixtureResponse | undefined {
  if (path !== '/api/catalog_system/pub/products/search') return undefined;
  const [from, to] = [Number(query.get('_from') ?? 0), Number(query.get('_to') ?? 9)];
  if (to - from >= VTEX_PAGE_SIZE || from > VTEX_LAST_OFFSET) return { status: 400, body: 'The maximum value is 2500' };
  const all = productsOf(shop);
  const products = all.slice(from, to + 1).map(({ id, title, handle, type, priceMinor, available }) => ({
    productId: String(id),
    productName: title,
    linkText: handle,
    categories: [`/${type}/`],
    items: [
      {
        itemId: String(id * 10),
        sellers: [{ commertialOffer: { Price: priceMinor / 100, AvailableQuantity: available ? 10 : 0 } }],
      },
    ],
  }));
  const last = Math.min(to, all.length - 1);
  return { ...jsonResponse(products, { resources: `${from}-${last}/${all.length}` }), status: last + 1 < all.length ? 206 : 200 };
}

export const bigCartel: PlatformFixture = {
  headers: { server: 'nginx' },
  head: () => `<meta name="generator" content="Big Cartel">
<link href="https://assets.bigcartel.com/theme_assets/128/1.7.5/theme.css" rel="stylesheet">
<script src="https://assets.bigcartel.com/api/6/api.usd.js"></script>`,
  collectionPath: '/products',
  cartPath: '/cart',
  productPath: ({ handle }) => `/product/${handle}`,
  endpoint: ({ path, query }, shop) => {
    if (path !== '/products.json') return undefined;
    const from = (Number(query.get('page') ?? 1) - 1) * BIG_CARTEL_PAGE_SIZE;
    return jsonResponse(
      productsOf(shop)
        .slice(from, from + BIG_CARTEL_PAGE_SIZE)
        .map(bigCartelProduct),
    );
  },
};

const BIG_CARTEL_PAGE_SIZE = 100;

function bigCartelProduct({ id, title, handle, type, priceMinor, available }: FixtureProduct) {
  return {
    id,
    name: title,
    permalink: handle,
    url: `/product/${handle}`,
    price: priceMinor / 100,
    status: available ? 'active' : 'sold-out',
    categories: [{ id: 1, name: type }],
    options: [{ id: id * 10, name: title, price: priceMinor / 100, sold_out: !available }],
  };
}

export const nuvemshop: PlatformFixture = {
  headers: { server: 'nginx' },
  cookies: ['store_session_payload_1234567=ey; Path=/'],
  head: () => `<link rel="stylesheet" href="https://acdn-us.mitiendanube.com/stores/001/234/567/themes/morelia/css/style.css">
<script>var LS = { "store": { "id": 1234567, "url": "fixture.lojavirtualnuvem.com.br" }, "cart": { "items": [] } }; LS.store.url = "fixture.lojavirtualnuvem.com.br";</script>
<script src="https://acdn-us.mitiendanube.com/assets/stores/js/linkedstore-v2.js" defer></script>`,
  collectionPath: '/produtos/',
  cartPath: '/comprar/',
  productPath: ({ handle }) => `/produtos/${handle}/`,
  endpoint: ({ path }, shop) =>
    path === '/sitemap.xml'
      ? sitemapResponse(shop, ({ handle }) => `/produtos/${handle}/`, ['/', '/produtos/', '/contato/'])
      : undefined,
};
