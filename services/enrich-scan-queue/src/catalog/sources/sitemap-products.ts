import type { CatalogPage, CatalogSource } from '../catalog-page.ts';
import { sitemapLocations } from '../sitemap-locations.ts';

/** Maximum that a scan keeps, from three sitemap files. */
const MAX_PRODUCTS = 150_000;

/**
 * Product addresses from the sitemaps of a storefront (`fetch/read-sitemaps.ts`). Their count is only a lower bound, for platforms
 * without an endpoint and shops that have closed theirs.
 */
export const sitemapProducts: CatalogSource = {
  kind: 'product_sitemap',
  listsProducts: false,
  isWhole: false,
  request: () => undefined,
  read: ({ status, body }) => {
    if (status !== 200 || !Array.isArray(body)) return undefined;
    return pageOf((body as unknown[]).filter((address) => typeof address === 'string').slice(0, MAX_PRODUCTS));
  },
};

/** The same for one sitemap that a platform provides for its products. */
export function productSitemap(kind: string, path: string): CatalogSource {
  return {
    kind,
    listsProducts: false,
    isWhole: false,
    request: () => path,
    read: ({ status, body }) => {
      if (status !== 200 || typeof body !== 'string' || !body.includes('<urlset')) return undefined;
      return pageOf(sitemapLocations(body));
    },
  };
}

function pageOf(addresses: readonly string[]): CatalogPage {
  const unknown = { title: '', labels: [], price: null, currency: null, isAvailable: null };
  return { products: addresses.map((address) => ({ id: address, address, ...unknown })), isFull: true, declaredTotal: null };
}
