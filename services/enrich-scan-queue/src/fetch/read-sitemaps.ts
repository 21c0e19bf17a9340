import { distinctProducts, productPaths, subjectOf } from '../catalog/product-addresses.ts';
import { sitemapLocations } from '../catalog/sources/sitemap-products.ts';

/** Maximum product files of a sitemap. At one request a second they must leave time for pages. */
const MAX_FILES = 3;
const DEFAULT_SITEMAP = '/sitemap.xml';

interface SitemapsOptions {
  /** Sitemaps on the storefront's host that robots.txt names. */
  readonly named: readonly string[];
  readonly platform: string;
  readonly host: string;
  /** Resolves with the text of a file, or with an empty text where it is missing. */
  readonly readXml: (address: string) => Promise<string>;
}

/** Paths of the products in the sitemap of a storefront, each product once. Undefined when it lists none, which does not mean that the catalogue
 *  is empty. In an index (sitemaps.org) the product files are read, or else files that may be. */
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
