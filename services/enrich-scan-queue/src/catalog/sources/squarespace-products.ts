import type { CatalogDocument, CatalogSource } from '../catalog-page.ts';
import {
  jsonCatalog,
  type Offer,
  addressOf,
  countOf,
  currencyOf,
  labelsOf,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  type JsonObject,
} from '../json-catalog.ts';

const JSON_FORMAT = 'format=json';
/** Ratio of a price in minor units to the same price in major units. */
const MINOR_UNITS = [1, 100, 1_000];

/** A store page as JSON, which Squarespace serves with `?format=json`. A shop may have several store pages, so one is only a part of the
 *  catalogue. */
export const squarespaceProducts: CatalogSource = jsonCatalog({
  kind: 'squarespace_products',
  isWhole: false,
  request: (page, { collections, previous }) => {
    const path = page === 1 ? collections[0] : nextPageOf(previous);
    return path === undefined ? undefined : `${path}${path.includes('?') ? '&' : '?'}${JSON_FORMAT}`;
  },
  itemsOf: (body) => {
    const { collection, items } = objectOf(body);
    return textOf(objectOf(collection)['typeName'])?.startsWith('products') === true ? items : undefined;
  },
  isFull: (_, body) => objectOf(objectOf(body)['pagination'])['nextPage'] === true,
  readItem: (item) => {
    const variants = objectsOf(objectOf(item['structuredContent'])['variants']) ?? [];
    const currencies = new Set(variants.map((variant) => currencyOf(objectOf(variant['priceMoney'])['currency'])));
    const [currency] = currencies.size === 1 ? currencies : [null];
    const offers = variants.map((variant) => offerOf(variant, currency !== null));
    const labels = [item['categories'], item['tags']].flatMap(labelsOf);
    return { id: item['id'], title: item['title'], labels, currency, offers, address: addressOf(item['fullUrl']) };
  },
});

function nextPageOf(document: CatalogDocument | undefined): string | undefined {
  const next = textOf(objectOf(objectOf(document?.body)['pagination'])['nextPageUrl']);
  return next?.startsWith('/') === true && !next.startsWith('//') ? next : undefined;
}

function offerOf(variant: JsonObject, isPriced: boolean): Offer {
  const isOnSale = variant['onSale'] === true;
  const [money, minor] = isOnSale ? [variant['salePriceMoney'], variant['salePrice']] : [variant['priceMoney'], variant['price']];
  const stock = countOf(variant['qtyInStock']);
  const isAvailable = variant['unlimited'] === true ? true : stock === null ? null : stock > 0;
  const price = agreedPrice(numberOf(objectOf(money)['value']), numberOf(minor));
  return { price: isPriced ? price : null, isAvailable };
}

/** The price in major units; null if the price in minor units contradicts it. */
function agreedPrice(major: number | null, minor: number | null): number | null {
  if (major === null || minor === null) return major;
  return MINOR_UNITS.some((unit) => Math.abs(major * unit - minor) < 0.5) ? major : null;
}
