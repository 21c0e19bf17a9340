import { sitemapLocations } from '../../catalog/sitemap-locations.ts';

/** Where carts are, for home pages whose links are drawn by scripts. */
export const CART_PATHS: Readonly<Record<string, string>> = {
  shopify: '/cart',
  woocommerce: '/cart/',
  magento: '/checkout/cart/',
  bigcommerce: '/cart.php',
  prestashop: '/cart?action=show',
  opencart: '/index.php?route=checkout/cart',
  'squarespace-commerce': '/cart',
  'wix-stores': '/cart-page',
  shopware: '/checkout/cart',
  'big-cartel': '/cart',
  nuvemshop: '/comprar/',
  odoo: '/shop/cart',
};

/** Collections that every shop of a platform has. */
export const COLLECTION_PATHS: Readonly<Record<string, string>> = {
  shopify: '/collections/all',
  woocommerce: '/shop/',
  'big-cartel': '/products',
  nuvemshop: '/produtos/',
  odoo: '/shop',
  opencart: '/index.php?route=product/search',
};

/** How the documents of a catalogue name the page of a product. */
const PRODUCT_ADDRESSES: Readonly<Record<string, (body: unknown) => readonly (string | undefined)[]>> = {
  shopify_products: (body) => listAt(body, 'products').map((product) => prefixed('/products/', fieldOf(product, 'handle'))),
  woocommerce_products: (body) => asList(body).map((product) => textOf(fieldOf(product, 'permalink'))),
  magento_products: (body) =>
    listAt(fieldOf(fieldOf(body, 'data'), 'products'), 'items').map((product) =>
      prefixed('/', fieldOf(product, 'url_key'), '.html'),
    ),
  vtex_products: (body) => asList(body).map((product) => prefixed('/', fieldOf(product, 'linkText'), '/p')),
  squarespace_products: (body) => listAt(body, 'items').map((product) => textOf(fieldOf(product, 'fullUrl'))),
  big_cartel_products: (body) => asList(body).map((product) => textOf(fieldOf(product, 'url'))),
  bigcommerce_sitemap: sitemapLocations,
  wix_sitemap: sitemapLocations,
};
const MAX_ADDRESSES = 3;

/** A few addresses of product pages, from a document of a catalogue. */
export function productAddresses(kind: string, body: unknown): string[] {
  const addresses = PRODUCT_ADDRESSES[kind]?.(body) ?? [];
  return addresses.filter((address) => address !== undefined).slice(0, MAX_ADDRESSES);
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function listAt(value: unknown, name: string): readonly unknown[] {
  return asList(fieldOf(value, name));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function prefixed(prefix: string, value: unknown, suffix = ''): string | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : `${prefix}${text}${suffix}`;
}
