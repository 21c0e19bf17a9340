import type { CatalogSource } from '../catalog-page.ts';

/** The most that a scan keeps: of three files of a sitemap. */
const MAX_PRODUCTS = 150_000;

/** Addresses of products that were found in the sitemaps of a storefront (`fetch/read-sitemaps.ts`): no census, but a lower bound of how many
 *  products there are, for platforms without an endpoint and shops that have closed theirs. */
export const sitemapProducts: CatalogSource = {
  kind: 'product_sitemap',
  listsProducts: false,
  isWhole: false,
  request: () => undefined,
  read: ({ status, body }) => {
    if (status !== 200 || !Array.isArray(body)) return undefined;
    const addresses = (body as unknown[]).filter((address) => typeof address === 'string').slice(0, MAX_PRODUCTS);
    const products = addresses.map((id) => ({ id, title: '', labels: [], price: null, currency: null, isAvailable: null }));
    return { products, isFull: true, declaredTotal: null };
  },
};
