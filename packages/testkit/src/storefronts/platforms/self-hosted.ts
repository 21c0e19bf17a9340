import { gzipSync } from 'node:zlib';
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

const WOO_PAGE_SIZE = 100;

export const woocommerce: PlatformFixture = {
  headers: { server: 'nginx', link: '<https://example.com/wp-json/>; rel="https://api.w.org/"' },
  cookies: ['wp_woocommerce_session_5e=1%7C%7C2; Path=/; HttpOnly', 'woocommerce_items_in_cart=0; Path=/'],
  head: ({ host }) => `<meta name="generator" content="WordPress 6.8.3">
<meta name="generator" content="WooCommerce 10.3.4">
<link rel="stylesheet" id="woocommerce-general-css" href="https://${host}/wp-content/plugins/woocommerce/assets/css/woocommerce.css?ver=10.3.4" media="all">
<script src="https://${host}/wp-content/plugins/woocommerce/assets/js/frontend/add-to-cart.min.js?ver=10.3.4" id="wc-add-to-cart-js" defer></script>
<script id="wc-add-to-cart-js-extra">var wc_add_to_cart_params = {"ajax_url":"\\/wp-admin\\/admin-ajax.php","cart_url":"https:\\/\\/${host}\\/cart\\/","is_cart":""};</script>
<link rel="stylesheet" href="https://${host}/wp-content/themes/storefront/style.css?ver=4.6.0">`,
  bodyClass: 'home theme-storefront woocommerce-js',
  collectionPath: '/shop/',
  cartPath: '/cart/',
  productPath: ({ handle }) => `/product/${handle}/`,
  endpoint: ({ path, query }, shop) => {
    if (path === '/product-sitemap.xml') return sitemapResponse(shop, ({ handle }) => `/product/${handle}/`);
    if (path !== '/wp-json/wc/store/v1/products') return undefined;
    const size = Math.min(Number(query.get('per_page') ?? 10), WOO_PAGE_SIZE);
    const page = Number(query.get('page') ?? 1);
    const products = productsOf(shop);
    return jsonResponse(
      products.slice((page - 1) * size, page * size).map((product) => wooProduct(product, shop)),
      { 'x-wp-total': String(products.length), 'x-wp-totalpages': String(Math.ceil(products.length / size)) },
    );
  },
};

function wooProduct({ id, title, handle, type, priceMinor, available }: FixtureProduct, { host, currency }: Storefront) {
  return {
    id,
    name: title,
    slug: handle,
    type: 'simple',
    permalink: `https://${host}/product/${handle}/`,
    prices: { price: String(priceMinor), regular_price: String(priceMinor), currency_code: currency, currency_minor_unit: 2 },
    categories: [{ id: 15, name: type, slug: type.toLowerCase().replaceAll(' ', '-') }],
    is_purchasable: true,
    is_in_stock: available,
  };
}

export const magento: PlatformFixture = {
  headers: { 'x-magento-tags': 'FPC', 'x-content-type-options': 'nosniff' },
  cookies: ['PHPSESSID=ab12; Path=/; HttpOnly', 'X-Magento-Vary=9bf9a599; Path=/; HttpOnly', 'mage-messages=; Path=/'],
  head: ({
    host,
  }) => `<link rel="stylesheet" href="https://${host}/static/version1731409200/frontend/Magento/luma/en_US/css/styles-m.css">
<script src="https://${host}/static/version1731409200/frontend/Magento/luma/en_US/requirejs/require.js"></script>
<script type="text/x-magento-init">{"*":{"Magento_PageCache/js/form-key-provider":{"isPaginationCacheEnabled":0}}}</script>`,
  bodyClass: 'cms-home cms-index-index page-layout-1column',
  bodyEnd: () => `<div data-mage-init='{"menu":{"responsive":true}}'></div>`,
  collectionPath: '/all-products.html',
  cartPath: '/checkout/cart/',
  productPath: ({ handle }) => `/${handle}.html`,
  endpoint: (request, shop) => (request.path === '/graphql' ? magentoGraphql(request, shop) : undefined),
};

/** Serves `products` and `storeConfig`; the arguments of paging are read from the text of the query. */
function magentoGraphql({ method, query, body }: FixtureRequest, shop: Storefront): FixtureResponse {
  const text = method === 'POST' ? (JSON.parse(body || '{}') as { query?: string }).query : query.get('query');
  if (text === undefined || text === null) return { ...jsonResponse({ errors: [{ message: 'Query is missing' }] }), status: 400 };
  const size = Math.min(Number(/pageSize:\s*(\d+)/.exec(text)?.[1] ?? 20), 300);
  const page = Number(/currentPage:\s*(\d+)/.exec(text)?.[1] ?? 1);
  const products = productsOf(shop);
  const items = products.slice((page - 1) * size, page * size).map(({ id, title, handle, priceMinor, available }) => ({
    id,
    uid: String(id),
    sku: `SKU-${id}`,
    name: title,
    url_key: handle,
    stock_status: available ? 'IN_STOCK' : 'OUT_OF_STOCK',
    price_range: { minimum_price: { final_price: { value: priceMinor / 100, currency: shop.currency } } },
  }));
  const page_info = { current_page: page, page_size: size, total_pages: Math.ceil(products.length / size) };
  const storeConfig = { base_currency_code: shop.currency, locale: `${shop.language}_${shop.country}`, store_name: shop.name };
  return jsonResponse({ data: { storeConfig, products: { total_count: products.length, items, page_info } } });
}

export const prestashop: PlatformFixture = {
  headers: { 'powered-by': 'PrestaShop' },
  cookies: ['PrestaShop-9b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e=def5; Path=/; HttpOnly'],
  head: ({ host, currency }) => `<meta name="generator" content="PrestaShop">
<link rel="stylesheet" href="https://${host}/themes/classic/assets/css/theme.css" type="text/css" media="all">
<script src="https://${host}/modules/ps_shoppingcart/ps_shoppingcart.js"></script>
<script type="text/javascript">var prestashop = {"cart":{"products":[]},"currency":{"iso_code":"${currency}"},"page":{"page_name":"index"}};</script>`,
  bodyClass: 'lang-en country-us currency-eur layout-full-width page-index',
  collectionPath: '/2-home',
  cartPath: '/cart?action=show',
  productPath: ({ id, handle }) => `/home/${id}-${handle}.html`,
  sitemap: '/1_index_sitemap.xml',
  endpoint: ({ path }, shop) => {
    if (path === '/1_index_sitemap.xml') return sitemapIndexResponse(shop, ['/1_en_0_sitemap.xml', '/1_fr_0_sitemap.xml']);
    const [, language] = /^\/1_(en|fr)_0_sitemap\.xml$/.exec(path) ?? [];
    if (language === undefined) return undefined;
    const prefix = language === 'en' ? '' : `/${language}`;
    const others = [`${prefix}/2-home`, `${prefix}/content/1-delivery`];
    return sitemapResponse(shop, ({ id, handle }) => `${prefix}/home/${id}-${handle}.html`, others);
  },
};

export const opencart: PlatformFixture = {
  headers: { server: 'Apache' },
  cookies: ['OCSESSID=5f1e; Path=/', 'language=en-gb; Path=/', 'currency=EUR; Path=/'],
  head: ({ host }) => `<script src="catalog/view/javascript/common.js" type="text/javascript"></script>
<link href="https://${host}/catalog/view/theme/default/stylesheet/stylesheet.css" rel="stylesheet">`,
  bodyEnd: ({ host }) => `<a href="https://${host}/index.php?route=common/home">Home</a>`,
  collectionPath: '/index.php?route=product/category&path=20',
  cartPath: '/index.php?route=checkout/cart',
  productPath: ({ id }) => `/index.php?route=product/product&product_id=${id}`,
  sitemap: '/index.php?route=extension/feed/google_sitemap',
  endpoint: ({ path, query }, shop) =>
    path === '/index.php' && query.get('route') === 'extension/feed/google_sitemap'
      ? sitemapResponse(shop, ({ id }) => `/index.php?route=product/product&amp;product_id=${id}`, [
          '/index.php?route=product/category&amp;path=20',
        ])
      : undefined,
};

const SHOPWARE_SITEMAP = '/sitemap/salesChannel-98432def-2fbb5fe2/1-sitemap-www-example.xml.gz';

export const shopware: PlatformFixture = {
  headers: { 'sw-context-token': 'k2jd83', 'sw-language-id': '2fbb5fe2e29a4d70aa5854ce7ce3e20b', 'sw-version-id': '0fa91ce3' },
  cookies: ['session-=k2jd83; Path=/; HttpOnly'],
  head: ({ host }) => `<meta name="application-name" content="Shopware">
<link rel="stylesheet" href="https://${host}/theme/9f3b/css/all.css?1731409200">
<script src="https://${host}/bundles/storefront/assets/script/storefront.js" defer></script>`,
  bodyClass: 'is-ctl-navigation is-act-home',
  collectionPath: '/Clothing/',
  cartPath: '/checkout/cart',
  productPath: ({ id, handle }) => `/detail/${handle}-${id}`,
  sitemap: '/sitemap.xml',
  endpoint: ({ path }, shop) => {
    if (path === '/sitemap.xml') return sitemapIndexResponse(shop, [SHOPWARE_SITEMAP]);
    if (path !== SHOPWARE_SITEMAP) return undefined;
    const { body } = sitemapResponse(shop, ({ id, handle }) => `/detail/${handle}-${id}`, [
      '/',
      '/Clothing/',
      '/Clothing/Women/',
    ]);
    return { type: 'application/gzip', body: gzipSync(body) };
  },
};

/** A shop window that is embedded in a site of WordPress. */
export const ecwid: PlatformFixture = {
  headers: { server: 'nginx' },
  head: () => `<meta name="generator" content="WordPress 6.8.3">
<script data-cfasync="false" type="text/javascript" src="https://app.ecwid.com/script.js?12345678&data_platform=wporg"></script>`,
  bodyEnd: () => `<div id="my-store-12345678"></div>
<script type="text/javascript">xProductBrowser("categoriesPerRow=3","views=grid(20,3)","id=my-store-12345678");</script>`,
  collectionPath: '/store/',
  cartPath: '/store/cart',
  productPath: ({ id, handle }) => `/store/${handle}-p${id}`,
  sitemap: '/sitemap.xml',
  endpoint: ({ path }, shop) =>
    path === '/sitemap.xml'
      ? sitemapResponse(shop, ({ id, handle }) => `/store/${handle}-p${id}`, ['/', '/store/', '/about/'])
      : undefined,
};

export const odoo: PlatformFixture = {
  headers: { server: 'nginx' },
  cookies: ['session_id=7d1f; Path=/; HttpOnly', 'frontend_lang=en_US; Path=/'],
  head: () => `<meta name="generator" content="Odoo">
<link type="text/css" rel="stylesheet" href="/web/assets/1/f4d6c1b/web.assets_frontend.min.css">
<script type="text/javascript" defer="defer" src="/web/assets/1/0e7a9d2/web.assets_frontend_lazy.min.js"></script>`,
  bodyClass: 'o_wsale_products_page',
  bodyEnd: () => `<form action="/shop/cart/update" method="post"><div class="oe_product"></div></form>`,
  collectionPath: '/shop',
  cartPath: '/shop/cart',
  productPath: ({ id, handle }) => `/shop/${handle}-${id}`,
  sitemap: '/sitemap.xml',
  endpoint: ({ path }, shop) =>
    path === '/sitemap.xml'
      ? sitemapResponse(shop, ({ id, handle }) => `/shop/${handle}-${id}`, ['/', '/shop', '/shop/category/desks-4', '/contactus'])
      : undefined,
};

/** The price of a product as its page shows it. */
export function shownPrice({ priceMinor }: FixtureProduct, { currency }: Storefront): string {
  return `${majorUnits(priceMinor)} ${currency}`;
}
