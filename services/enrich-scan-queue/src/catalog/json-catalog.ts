import type { CatalogDocument, CatalogProduct, CatalogSource } from './catalog-page.ts';
import { countOf, currencyOf, idOf, objectsOf, textOf, textsOf, type JsonObject } from './json-fields.ts';

/** A purchasable variant of a product. */
export interface Offer {
  readonly price: number | null;
  readonly isAvailable: boolean | null;
}

/** An item of an endpoint. A value of an unexpected type counts as missing. An item without an id is skipped. */
interface CatalogItem {
  readonly id: unknown;
  readonly title: unknown;
  readonly labels?: readonly unknown[];
  readonly currency?: unknown;
  readonly offers: readonly Offer[];
  readonly address: string | null;
}

interface JsonCatalog extends Omit<CatalogSource, 'listsProducts' | 'isWhole' | 'read'> {
  readonly isWhole?: boolean;
  /** Accepted statuses of a page; 200 by default. */
  readonly statuses?: readonly number[];
  readonly itemsOf: (body: unknown) => unknown;
  readonly isFull: (count: number, body: unknown) => boolean;
  readonly totalOf?: (document: CatalogDocument) => unknown;
  readonly readItem: (item: JsonObject) => CatalogItem;
}

/** A catalogue read from JSON pages. */
export function jsonCatalog({
  isWhole = true,
  statuses = [200],
  itemsOf,
  isFull,
  totalOf,
  readItem,
  ...source
}: JsonCatalog): CatalogSource {
  return {
    ...source,
    isWhole,
    listsProducts: true,
    read: (document) => {
      const items = statuses.includes(document.status) ? objectsOf(itemsOf(document.body)) : undefined;
      if (items === undefined) return undefined;
      return {
        products: items.flatMap((item) => productOf(readItem(item)) ?? []),
        isFull: isFull(items.length, document.body),
        declaredTotal: countOf(totalOf?.(document)),
      };
    },
  };
}

function productOf({ id: statedId, title, labels = [], currency, offers, address }: CatalogItem): CatalogProduct | undefined {
  const id = idOf(statedId);
  if (id === null) return undefined;
  return {
    id,
    title: textOf(title) ?? '',
    labels: textsOf(...labels),
    price: lowestPrice(offers),
    currency: currencyOf(currency),
    isAvailable: anyAvailable(offers),
    address,
  };
}

/** The lowest price of the available offers, else of all offers. Zero and negative prices are ignored. */
function lowestPrice(offers: readonly Offer[]): number | null {
  const priced = offers.filter(({ price }) => price !== null && price > 0);
  const buyable = priced.filter(({ isAvailable }) => isAvailable === true);
  const prices = (buyable.length > 0 ? buyable : priced).map(({ price }) => price ?? Infinity);
  return prices.length === 0 ? null : Math.min(...prices);
}

/** Whether any offer is available. Null when none is, but one does not state it. */
function anyAvailable(offers: readonly Offer[]): boolean | null {
  if (offers.some(({ isAvailable }) => isAvailable === true)) return true;
  return offers.length === 0 || offers.some(({ isAvailable }) => isAvailable === null) ? null : false;
}
