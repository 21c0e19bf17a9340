import { withoutWww } from '@vitrine/registry/evidence/page-address';

/** The pattern of product addresses on a platform, which other pages in the same sitemap do not match. */
const PRODUCT_PATHS: Readonly<Record<string, RegExp>> = {
  'big-cartel': /^\/product\/[^/]+$/,
  ecwid: /-p\d+\/?$/,
  nuvemshop: /^\/(?:produtos|productos)\/[^/]+\/?$/,
  odoo: /\/shop\/(?:product\/)?[^/]+-\d+$/,
  opencart: /[?&]product_id=\d+/,
  prestashop: /\/\d+-[^/]+\.html$/,
  'salesforce-commerce-cloud': /\/[^/]+\.html$/,
  shopify: /\/products\/[^/]+$/,
  // A product address ends with its number. Category addresses end with a slash.
  shopware: /^\/detail\/[^/]+$|^\/(?:[a-z]{2}\/)?[^/]+\/[^/\d]*\d[^/]*$/,
  'squarespace-commerce': /\/p\/[^/]+$/,
  vtex: /\/p$/,
  'wix-stores': /\/product-page\/[^/]+$/,
  woocommerce: /\/(?:product|produkt|produit|producto|prodotto|produto)\/[^/]+/,
};
/** The part shared by all addresses of a product, in any language and category. */
const PRODUCT_IDS: Readonly<Record<string, RegExp>> = {
  ecwid: /-p(\d+)\/?$/,
  odoo: /-(\d+)$/,
  opencart: /[?&]product_id=(\d+)/,
  prestashop: /\/(\d+)-[^/]+\.html$/,
};
const LANGUAGE = /^\/([a-z]{2}(?:-[a-z]{2})?)\//i;
const PRODUCT_FILE = /product|produkt|produit|produto|prodott/i;
const OTHER_FILE = /attribute|blog|brand|categor|cat[-_.]|collection|image|manufacturer|page|post|review|tag|vendor|video/i;
const MAX_ADDRESS_LENGTH = 2_048;

/** The subject of a sitemap file, by its name. */
export function subjectOf(file: string): 'products' | 'other' | 'unknown' {
  const name =
    file
      .replace(/[?#].*/s, '')
      .slice(-200)
      .split('/')
      .at(-1) ?? '';
  if (OTHER_FILE.test(name)) return 'other';
  return PRODUCT_FILE.test(name) ? 'products' : 'unknown';
}

/** The product addresses of a sitemap, as paths on the host. They are selected by the pattern of the platform. All addresses of a product file
 *  count if the platform has no pattern or none of them matches. */
export function productPaths(
  addresses: readonly string[],
  host: string,
  platform: string,
  subject: 'products' | 'unknown',
): string[] {
  const paths = addresses.flatMap((address) => pathOf(address, host) ?? []);
  const pattern = Object.hasOwn(PRODUCT_PATHS, platform) ? PRODUCT_PATHS[platform] : undefined;
  const matching = pattern === undefined ? [] : paths.filter((path) => pattern.test(path));
  return matching.length > 0 || subject === 'unknown' ? matching : paths;
}

/** An address of each product. Translations count once: by the number in the address, else only the language with most addresses counts. */
export function distinctProducts(paths: readonly string[], platform: string): string[] {
  const id = Object.hasOwn(PRODUCT_IDS, platform) ? PRODUCT_IDS[platform] : undefined;
  const byId = new Map<string, string>();
  const remember = (key: string, path: string) => byId.has(key) || byId.set(key, path);
  if (id === undefined) for (const path of inOneLanguage(paths)) remember(path.replace(/[?#].*/s, '').replace(/\/$/, ''), path);
  else for (const path of paths) remember(id.exec(path)?.[1] ?? path, path);
  return [...byId.values()];
}

function inOneLanguage(paths: readonly string[]): readonly string[] {
  const byLanguage = Map.groupBy(paths, (path) => LANGUAGE.exec(path)?.[1]?.toLowerCase() ?? '');
  return [...byLanguage.values()].reduce<readonly string[]>((most, some) => (some.length > most.length ? some : most), []);
}

/** Path and query on the host itself, with or without www; undefined elsewhere, and for the home page. */
function pathOf(address: string, host: string): string | undefined {
  const url = address.length > MAX_ADDRESS_LENGTH ? null : URL.parse(address);
  if (url === null || withoutWww(url.hostname) !== withoutWww(host) || !url.protocol.startsWith('http')) return undefined;
  const path = `${url.pathname}${url.search}`;
  return path === '/' ? undefined : path;
}
