import { distinctProducts, productPaths, subjectOf } from '../catalog/product-addresses.ts';
import { sitemapLocations } from '../catalog/sources/sitemap-products.ts';

/** Files of products that are read of a sitemap: at one request a second they have to leave time for pages. */
const MAX_FILES = 3;
const DEFAULT_SITEMAP = '/sitemap.xml';

interface SitemapsOptions {
  /** Those that robots.txt names on the storefront's host. */
  readonly named: readonly string[];
  readonly platform: string;
  readonly host: string;
  /** Resolves with the text of a file, or with an empty text where it is missing. */
  readonly readXml: (address: string) => Promise<string>;
}

/** Paths of the products that the sitemap of a storefront names, each product once; undefined when it names none, which says nothing about the
 *  catalogue. Of an index (sitemaps.org) the files of products are read, or those that may be. */
export async function readProductPaths({ named, platform, host, readXml }: SitemapsOptions): Promise<string[] | undefined> {
  const start = named.find((address) => subjectOf(address) === 'products') ?? named[0] ?? DEFAULT_SITEMAP;
  const text = await readXml(start);
  const paths: string[] = [];
  const take = (file: string, content: string) => {
    const subject = subjectOf(file) === 'products' ? 'products' : 'unknown';
    if (content.includes('<urlset')) paths.push(...productPaths(sitemapLocations(content), host, platform, subject));
  };
  if (text.includes('<sitemapindex')) for (const file of filesOf(sitemapLocations(text))) take(file, await readXml(file));
  else take(start, text);
  const products = distinctProducts(paths, platform);
  return products.length === 0 ? undefined : products;
}

function filesOf(locations: readonly string[]): string[] {
  const bySubject = Map.groupBy(locations, subjectOf);
  return (bySubject.get('products') ?? bySubject.get('unknown') ?? []).slice(0, MAX_FILES);
}
