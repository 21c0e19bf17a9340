import type { CatalogSource } from '../catalog-page.ts';

/** The sitemap protocol allows so many addresses in a file. */
const MAX_ADDRESSES = 50_000;
const LOCATION = '<loc>';

/** Addresses of products in a sitemap: no census, but a lower bound of how many products there are. */
export function productSitemap(kind: string, path: string): CatalogSource {
  return {
    kind,
    listsProducts: false,
    isWhole: false,
    request: () => path,
    read: ({ status, body }) => {
      if (status !== 200 || typeof body !== 'string' || !body.includes('<urlset')) return undefined;
      const addresses = locationsOf(body);
      const products = addresses.map((id) => ({ id, title: '', labels: [], price: null, currency: null, isAvailable: null }));
      return { products, isFull: true, declaredTotal: null };
    },
  };
}

function locationsOf(xml: string): string[] {
  const locations: string[] = [];
  for (let at = xml.indexOf(LOCATION); at !== -1 && locations.length < MAX_ADDRESSES; at = xml.indexOf(LOCATION, at + 1)) {
    const end = xml.indexOf('</loc>', at);
    if (end === -1) break;
    locations.push(
      xml
        .slice(at + LOCATION.length, end)
        .trim()
        .slice(0, 2_048)
        .replaceAll('&amp;', '&'),
    );
  }
  return locations.filter((location) => /^https?:\/\//.test(location));
}
