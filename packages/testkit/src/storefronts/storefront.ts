import type { FixtureResponse, StorefrontBehaviour } from './closed-storefront.ts';

/** The platforms that a fixture storefront can behave like. `none` is a site that sells nothing. */
export const STOREFRONT_PLATFORMS = [
  'shopify',
  'woocommerce',
  'magento',
  'bigcommerce',
  'salesforce-commerce-cloud',
  'prestashop',
  'opencart',
  'squarespace-commerce',
  'wix-stores',
  'shopware',
  'ecwid',
  'vtex',
  'big-cartel',
  'nuvemshop',
  'odoo',
  'none',
] as const;
export type StorefrontPlatform = (typeof STOREFRONT_PLATFORMS)[number];

export interface StorefrontOptions {
  /** In lower case, such as `example.com`; each name has one storefront. */
  readonly host: string;
  readonly platform?: StorefrontPlatform;
  readonly behaviour?: StorefrontBehaviour;
  readonly name?: string;
  /** ISO 4217. */
  readonly currency?: string;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  readonly language?: string;
  /** Slugs of vendors whose loaders are on every page (technology-snippets.ts). */
  readonly technologies?: readonly string[];
  /** How many products the catalogue has. */
  readonly products?: number;
  /** If false, the home page has no links to cart and product pages, like a page rendered by scripts. */
  readonly linked?: boolean;
  /** The text of robots.txt; null for none (404). */
  readonly robots?: string | null;
  /** Target of `moved`; `https://example.net/` by default. */
  readonly movedTo?: string;
  /** Adds filler text so that each page has at least this many bytes. */
  readonly pageBytes?: number;
}

/** The current state of a storefront. */
export type Storefront = Required<StorefrontOptions>;

export interface FixtureProduct {
  readonly id: number;
  readonly handle: string;
  readonly title: string;
  readonly type: string;
  /** In the minor unit of the currency. */
  readonly priceMinor: number;
  readonly available: boolean;
}

/** The parts of a page that differ between platforms. */
export interface PlatformFixture {
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of Set-Cookie. */
  readonly cookies?: readonly string[];
  readonly head: (shop: Storefront) => string;
  readonly bodyClass?: string;
  readonly bodyEnd?: (shop: Storefront) => string;
  readonly collectionPath: string;
  readonly cartPath: string;
  readonly productPath: (product: FixtureProduct) => string;
  /** The path that robots.txt names as its sitemap, unless a test sets its own robots.txt. */
  readonly sitemap?: string;
  /** Catalogue endpoints, sitemaps and similar documents. */
  readonly endpoint?: (request: FixtureRequest, shop: Storefront) => FixtureResponse | undefined;
}

export interface FixtureRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

const TYPES = ['Running Shoes', 'Rain Jackets', 'Wool Socks', 'Backpacks', 'T-Shirts', 'Sun Hats'];
const MAX_PRODUCTS = 100_000;

/** The catalogue of a storefront, always the same for the same number of products; every tenth is sold out. */
export function productsOf({ products }: Pick<Storefront, 'products'>): FixtureProduct[] {
  return Array.from({ length: Math.min(products, MAX_PRODUCTS) }, (_, index) => {
    const type = TYPES[index % TYPES.length] ?? '';
    const title = `${type.replace(/e?s$/, '')} No. ${index + 1}`;
    return {
      id: 7_000_001 + index,
      handle: title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
      title,
      type,
      priceMinor: 990 + ((index * 370) % 20_000),
      available: index % 10 !== 9,
    };
  });
}

/** `1990` -> `19.90`. */
export function majorUnits(priceMinor: number): string {
  return (priceMinor / 100).toFixed(2);
}

export function jsonResponse(value: unknown, headers: Readonly<Record<string, string>> = {}): FixtureResponse {
  return { type: 'application/json; charset=utf-8', headers, body: JSON.stringify(value) };
}

/** The addresses of all products as a sitemap, after those of other pages. */
export function sitemapResponse(
  shop: Storefront,
  pathOf: (product: FixtureProduct) => string,
  otherPaths: readonly string[] = [],
): FixtureResponse {
  const paths = [...otherPaths, ...productsOf(shop).map(pathOf)];
  const locations = paths.map((path) => `<url><loc>https://${shop.host}${path}</loc></url>`);
  return {
    type: 'application/xml; charset=utf-8',
    body: `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locations.join('')}</urlset>`,
  };
}

/** An index of sitemaps. */
export function sitemapIndexResponse({ host }: Storefront, paths: readonly string[]): FixtureResponse {
  const locations = paths.map((path) => `<sitemap><loc><![CDATA[https://${host}${path}]]></loc></sitemap>`);
  return {
    type: 'application/xml; charset=utf-8',
    body: `<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locations.join('')}</sitemapindex>`,
  };
}
