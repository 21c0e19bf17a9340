import type { CatalogDocument, CatalogProduct, CatalogSource } from './catalog-page.ts';

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
export function jsonCatalog(catalog: JsonCatalog): CatalogSource {
  const { isWhole = true, statuses = [200], itemsOf, isFull, totalOf, readItem, ...source } = catalog;
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

/** Readers for JSON that a storefront sent. A value of an unexpected type is null, never an error. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** Undefined for a value that is not a list. Items that are not objects are left out. */
export function objectsOf(value: unknown): readonly JsonObject[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map(objectOf).filter((item) => Object.keys(item).length > 0);
}

/** Trimmed, at most 300 characters; null when empty. */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return value.trim().slice(0, 300) || null;
}

/** Ids are texts or integers. */
function idOf(value: unknown): string | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value);
}

/** A number, or a text that is one, such as `"19.90"`. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}(?:\.\d{1,6})?$/.test(value.trim()) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** A count: an integer from 0 on. */
export function countOf(value: unknown): number | null {
  const number = numberOf(value);
  return number !== null && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** A code of ISO 4217 by its form; upper-case. */
export function currencyOf(value: unknown): string | null {
  const text = textOf(value)?.toUpperCase();
  return text !== undefined && /^[A-Z]{3}$/.test(text) ? text : null;
}

export const textsOf = (...values: readonly unknown[]): string[] => values.map(textOf).filter((text) => text !== null);

/** The first 20 items of a list. Empty for a value that is not a list. */
export function labelsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 20) : [];
}

/** The names of the first 20 objects of a list. */
export const namesOf = (value: unknown): unknown[] => (objectsOf(value) ?? []).slice(0, 20).map(({ name }) => name);

/** The address of a page by the part that the endpoint states; null without one. */
export function addressOf(value: unknown, prefix = '', suffix = ''): string | null {
  return typeof value === 'string' && value !== '' ? `${prefix}${value}${suffix}` : null;
}
