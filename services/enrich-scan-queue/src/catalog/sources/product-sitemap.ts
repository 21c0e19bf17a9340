import type { CatalogSource } from '../catalog-page.ts';
import { sitemapLocations } from '../sitemap-locations.ts';

/** Addresses of products in a sitemap: no census, but a lower bound of how many products there are. */
export function productSitemap(kind: string, path: string): CatalogSource {
  return {
    kind,
    listsProducts: false,
    isWhole: false,
    request: () => path,
    read: ({ status, body }) => {
      if (status !== 200 || typeof body !== 'string' || !body.includes('<urlset')) return undefined;
      const addresses = sitemapLocations(body);
      const products = addresses.map((id) => ({ id, title: '', labels: [], price: null, currency: null, isAvailable: null }));
      return { products, isFull: true, declaredTotal: null };
    },
  };
}
