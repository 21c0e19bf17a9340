import type { ObservationFacts } from '@vitrine/stores/observation/observation-facts';
import type { CatalogDocument, CatalogPage, CatalogProduct, CatalogSource } from './catalog-page.ts';
import type { PageEvidence } from '@vitrine/registry/evidence/evidence';
import { currencyOf, numberOf, textsOf } from './json-catalog.ts';

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
 * Counts the products on the pages of a catalogue. Null when no page could be read.
 * @param documents - of the source, in page order
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

/** Fewest priced products for statistics, by how much of the catalogue was read. Spec: S8.11. */
const FEWEST_PRICED = { full: 8, first_page: 20, partial: 30 };
/** Part of the prices that have to be in one currency. */
const ONE_CURRENCY = 0.95;

interface Price {
  readonly amount: number;
  /** null where the endpoint states none. */
  readonly currency: string | null;
}

type PriceStatistics = Pick<NonNullable<ObservationFacts['catalog']>, 'currency' | 'price_range'>;

/** The currency of a catalogue and its quartiles, or null where they would be a guess.
 *  @param shopCurrency - of the shop's settings; it stands for prices without one, and nothing else does */
function priceStatistics(
  prices: readonly Price[],
  coverage: keyof typeof FEWEST_PRICED,
  shopCurrency: string | null,
): PriceStatistics {
  const currencies = prices.map(({ currency }) => currency ?? shopCurrency);
  const currency = prices.length === 0 ? shopCurrency : mainCurrency(currencies);
  const amounts = prices.filter((_, index) => currencies[index] === currency).map(({ amount }) => amount);
  if (currency === null || amounts.length < FEWEST_PRICED[coverage]) return { currency, price_range: null };
  const sorted = Float64Array.from(amounts).toSorted();
  const digits = minorDigits(currency);
  const [p25, median, p75] = [0.25, 0.5, 0.75].map((part) => Number(quantile(sorted, part).toFixed(digits)));
  return { currency, price_range: { p25: p25 ?? 0, median: median ?? 0, p75: p75 ?? 0 } };
}

function mainCurrency(currencies: readonly (string | null)[]): string | null {
  const counts = new Map<string | null, number>();
  for (const currency of currencies) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  const [currency, count] = [...counts].reduce((best, one) => (one[1] > best[1] ? one : best));
  return count >= ONE_CURRENCY * currencies.length ? currency : null;
}

/** Linear between the closest ranks. */
function quantile(sorted: Float64Array, part: number): number {
  const rank = (sorted.length - 1) * part;
  const low = Math.floor(rank);
  const [a, b] = [sorted[low] ?? 0, sorted[Math.min(low + 1, sorted.length - 1)] ?? 0];
  return a + (b - a) * (rank - low);
}

/** Decimal places of a currency. 2 for an unknown code. */
function minorDigits(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

/** Products in structured data of the pages that were read, each once: by SKU, else by name. What pages contradict each other about is null. */
export function structuredProducts(
  pages: readonly { readonly jsonLd: Pick<PageEvidence['jsonLd'], 'products'> }[],
): CatalogProduct[] {
  const byId = new Map<string, CatalogProduct>();
  for (const { name, sku, price: text, currency: code, category } of pages.flatMap(({ jsonLd }) => jsonLd.products)) {
    const id = sku ?? name;
    if (id === null) continue;
    const amount = numberOf(text);
    const [price, currency] = [amount !== null && amount > 0 ? amount : null, currencyOf(code)];
    const known = byId.get(id);
    const isContradicted = known !== undefined && (known.price !== price || known.currency !== currency);
    const stated = isContradicted ? { price: null, currency: null } : { price, currency };
    byId.set(id, { id, title: name ?? '', labels: textsOf(category), ...stated, isAvailable: null, address: null });
  }
  return [...byId.values()];
}

/** The currency that all of them state; null where there are two, or none. */
export function oneCurrency(products: readonly CatalogProduct[]): string | null {
  const currencies = new Set(products.map(({ currency }) => currency).filter((currency) => currency !== null));
  const [currency = null] = currencies;
  return currencies.size === 1 ? currency : null;
}
