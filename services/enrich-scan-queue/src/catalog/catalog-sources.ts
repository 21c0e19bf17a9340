import type { CatalogSource } from './catalog-page.ts';
import { bigCartelProducts } from './sources/big-cartel-products.ts';
import { magentoProducts } from './sources/magento-products.ts';
import { shopifyProducts } from './sources/shopify-products.ts';
import { productSitemap, sitemapProducts } from './sources/sitemap-products.ts';
import { squarespaceProducts } from './sources/squarespace-products.ts';
import { vtexProducts } from './sources/vtex-products.ts';
import { woocommerceProducts } from './sources/woocommerce-products.ts';

/** By slug of the platform. Other platforms have no verified public endpoint with product data, only sitemaps. */
const SOURCES: Readonly<Record<string, CatalogSource>> = {
  shopify: shopifyProducts,
  woocommerce: woocommerceProducts,
  magento: magentoProducts,
  vtex: vtexProducts,
  'squarespace-commerce': squarespaceProducts,
  'big-cartel': bigCartelProducts,
  bigcommerce: productSitemap('bigcommerce_sitemap', '/xmlsitemap.php?type=products&page=1'),
  'wix-stores': productSitemap('wix_sitemap', '/store-products-sitemap.xml'),
};

/** How to read the catalogue of this platform; undefined if it is not supported. */
export function catalogSourceOf(platform: string): CatalogSource | undefined {
  return Object.hasOwn(SOURCES, platform) ? SOURCES[platform] : undefined;
}

/** The source of a document. */
export function catalogSourceOfKind(kind: string): CatalogSource | undefined {
  return [...Object.values(SOURCES), sitemapProducts].find((source) => source.kind === kind);
}
