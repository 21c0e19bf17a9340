import type { PageEvidence } from '@vitrine/registry/evidence/evidence';

/** Links of the home page, chosen by class, as paths or URLs; the best ones first. */
export type PageLinks = PageEvidence['links'];

/** Paths that are specific to a platform. */
const PATTERNS: Readonly<Record<string, Partial<Record<keyof PageLinks, RegExp>>>> = {
  magento: { collection: /^\/[\w-]+(?:\/[\w-]+)?\.html$/, cart: /^\/checkout\/cart/ },
  prestashop: {
    collection: /^\/(?:[a-z]{2}\/)?\d+-[\w-]+$/,
    product: /\/\d+-[\w-]+\.html$/,
    cart: /^\/(?:[a-z]{2}\/)?(?:cart|panier|carrito)\b/,
  },
  opencart: { collection: /route=product\/category/, product: /route=product\/product/, cart: /route=checkout\/cart/ },
  shopware: { collection: /^\/[A-Z][\w-]*\/$/, product: /^\/detail\// },
  vtex: { collection: /^\/[a-z][\w-]+$/, product: /^\/[\w-]+\/p$/ },
  nuvemshop: { collection: /^\/produtos\/$/, product: /^\/produtos\/[\w-]+\/$/, cart: /^\/comprar/ },
  odoo: { collection: /^\/shop$/, product: /^\/shop\/[\w-]+-\d+$/, cart: /^\/shop\/cart/ },
  bigcommerce: { collection: /^\/[\w-]+\/$/ },
  'salesforce-commerce-cloud': { collection: /^\/(?:c|s)\/[\w-]+/, product: /\/[\w-]+\.html$/ },
};
/** Cart paths, for home pages whose links are rendered by scripts. */
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
/** Pages that every shop has and that belong to no class. */
const OTHER_PAGES =
  /about|account|blog|contact|faq|help|imprint|legal|log-?in|news|pages?\b|policy|privacy|register|returns|shipping|sign|terms|track|wishlist/i;
const MAX_LINKS = 3_000;
const MAX_HREF_LENGTH = 500;
const MAX_PER_CLASS = 3;

/** The links of a home page that match the paths of its platform, for pages where the general patterns find none. */
export function platformLinks(html: string, platform: string | undefined): PageLinks {
  const links: PageLinks = { product: [], collection: [], cart: [] };
  const patterns = Object.entries(PATTERNS[platform ?? ''] ?? {}) as [keyof PageLinks, RegExp][];
  if (patterns.length === 0) return links;
  for (const path of hrefsOf(html)) {
    const [pageClass] = patterns.find(([, pattern]) => pattern.test(path)) ?? [];
    if (pageClass === undefined || OTHER_PAGES.test(path) || links[pageClass].includes(path)) continue;
    if (links[pageClass].length < MAX_PER_CLASS) links[pageClass].push(path);
  }
  return links;
}

/** Paths with queries. Only links within the site that begin with a slash or its name are used. */
function hrefsOf(html: string): string[] {
  const found: string[] = [];
  let count = 0;
  for (let at = html.indexOf(' href="'); at !== -1 && count < MAX_LINKS; at = html.indexOf(' href="', at + 7), count += 1) {
    const end = html.indexOf('"', at + 7);
    if (end === -1) break;
    if (end - at > MAX_HREF_LENGTH) continue;
    const href = html
      .slice(at + 7, end)
      .replaceAll('&amp;', '&')
      .replace(/#.*/s, '');
    const path = href.startsWith('//') ? '' : href.replace(/^https?:\/\/[^/]+/, '');
    if (path.startsWith('/') && !/\.(?:css|js|png|jpe?g|svg|ico|webp|woff2?|xml|json|pdf)(?:\?|$)/i.test(path)) found.push(path);
  }
  return found;
}
