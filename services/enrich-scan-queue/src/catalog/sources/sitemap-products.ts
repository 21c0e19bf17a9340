import type { CatalogPage, CatalogSource } from '../catalog-page.ts';

/** Maximum that a scan keeps, from three sitemap files. */
const MAX_PRODUCTS = 150_000;

/** Product addresses from the sitemaps of a storefront (`fetch/read-sitemaps.ts`). Their count is only a lower bound, for platforms without an
 *  endpoint and shops that have closed theirs. */
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

/** The sitemap protocol allows so many addresses in a file, and none that is longer (sitemaps.org). */
const MAX_LOCATIONS = 50_000;
const MAX_LENGTH = 2_048;
const [BEGIN, END] = ['<loc>', '</loc>'];

/** The addresses of a sitemap or of an index of sitemaps, at most 50,000. Linear in the text, whatever stands in it. */
export function sitemapLocations(body: unknown): string[] {
  if (typeof body !== 'string') return [];
  const locations: string[] = [];
  for (let at = body.indexOf(BEGIN); at !== -1 && locations.length < MAX_LOCATIONS;) {
    const end = body.indexOf(END, at);
    if (end === -1) break;
    const location = withoutCdata(body.slice(at + BEGIN.length, end).trim());
    if (location.length <= MAX_LENGTH && /^https?:\/\//.test(location)) locations.push(location.replaceAll('&amp;', '&'));
    // Behind the end: a search from each of many beginnings would pass the same text again.
    at = body.indexOf(BEGIN, end);
  }
  return locations;
}

function withoutCdata(text: string): string {
  return text.startsWith('<![CDATA[') && text.endsWith(']]>') ? text.slice(9, -3).trim() : text;
}
