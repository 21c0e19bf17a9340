import type { ObservationFacts } from '@vitrine/stores/observation/observation-facts';
import type { CatalogDocument, CatalogPage, CatalogProduct, CatalogSource } from './catalog-page.ts';
import { priceStatistics } from './price-statistics.ts';

export interface ShopSettings {
  /** ISO 4217, from the settings of the shop, never the currency shown to a visitor. */
  readonly currency: string | null;
  /** The total stated by the shop. */
  readonly productCount: number | null;
}

export interface CatalogRead {
  /** Spec: S2.18. */
  readonly census: NonNullable<ObservationFacts['catalog']>;
  readonly products: readonly CatalogProduct[];
}

/**
 * Counts the products on the pages of a catalogue. Null when no page could be read. @param documents - of the source, in page order
 * @param structured - products in structured data of pages; their prices replace those of a source without prices
 */
export function takeCensus(
  source: CatalogSource,
  documents: readonly CatalogDocument[],
  settings: ShopSettings,
  structured: readonly CatalogProduct[] = [],
): CatalogRead | null {
  const read = documents.map((document) => source.read(document));
  const end = read.indexOf(undefined);
  const pages = (end === -1 ? read : read.slice(0, end)).filter((page) => page !== undefined);
  if (pages.length === 0) return null;

  // Pages repeat products when the catalogue changes during the scan. The first occurrence of each counts.
  const byId = new Map<string, CatalogProduct>();
  for (const product of pages.flatMap((page) => page.products)) if (!byId.has(product.id)) byId.set(product.id, product);
  const products = [...byId.values()];
  const coverage = coverageOf(source, pages, products.length, { isCut: end !== -1, declared: settings.productCount });
  const priced = source.listsProducts ? products : structured;
  const prices = priced.flatMap(({ price, currency }) => (price === null ? [] : [{ amount: price, currency }]));
  const isKnown = products.every(({ isAvailable }) => isAvailable !== null) && source.listsProducts;
  return {
    census: {
      product_count: products.length,
      available_count: isKnown ? products.filter(({ isAvailable }) => isAvailable === true).length : null,
      ...priceStatistics(prices, coverage, settings.currency),
      coverage,
    },
    products,
  };
}

interface Reading {
  /** A page could not be read. */
  readonly isCut: boolean;
  readonly declared: number | null;
}

function coverageOf(source: CatalogSource, pages: readonly CatalogPage[], seen: number, { isCut, declared }: Reading) {
  if (!source.isWhole || isCut) return 'partial';
  const total = pages.findLast(({ declaredTotal }) => declaredTotal !== null)?.declaredTotal ?? declared;
  const hasEnded = pages.at(-1)?.isFull === false;
  if (hasEnded) return total === null || Math.abs(seen - total) <= Math.max(2, total * 0.01) ? 'full' : 'partial';
  return pages.length === 1 ? 'first_page' : 'partial';
}
