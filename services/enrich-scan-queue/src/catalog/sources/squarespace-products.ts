import type { CatalogDocument, CatalogProduct, CatalogSource } from '../catalog-page.ts';
import { countOf, currencyOf, idOf, numberOf, objectOf, objectsOf, textOf, textsOf, type JsonObject } from '../json-fields.ts';
import { anyAvailable, lowestPrice, type Offer } from '../lowest-price.ts';

const JSON_FORMAT = 'format=json';
/** Of a price in minor units and the same in major ones. */
const MINOR_UNITS = [1, 100, 1_000];

/** A store page as JSON, which any page of Squarespace is with `?format=json`. A shop may have several store pages, so one is a part. */
export const squarespaceProducts: CatalogSource = {
  kind: 'squarespace_products',
  listsProducts: true,
  isWhole: false,
  request: (page, { collections, previous }) => {
    const path = page === 1 ? collections[0] : nextPageOf(previous);
    return path === undefined ? undefined : `${path}${path.includes('?') ? '&' : '?'}${JSON_FORMAT}`;
  },
  read: ({ status, body }) => {
    const { collection, items: list } = objectOf(body);
    const isStore = textOf(objectOf(collection)['typeName'])?.startsWith('products') === true;
    const items = status === 200 && isStore ? objectsOf(list) : undefined;
    if (items === undefined) return undefined;
    return {
      products: items.map(readProduct).filter((one) => one !== null),
      isFull: objectOf(objectOf(body)['pagination'])['nextPage'] === true,
      declaredTotal: null,
    };
  },
};

function nextPageOf(document: CatalogDocument | undefined): string | undefined {
  const next = textOf(objectOf(objectOf(document?.body)['pagination'])['nextPageUrl']);
  return next?.startsWith('/') === true && !next.startsWith('//') ? next : undefined;
}

function readProduct(item: JsonObject): CatalogProduct | null {
  const id = idOf(item['id']);
  if (id === null) return null;
  const variants = objectsOf(objectOf(item['structuredContent'])['variants']) ?? [];
  const offers = variants.map(offerOf);
  const currencies = new Set(variants.map((variant) => currencyOf(objectOf(variant['priceMoney'])['currency'])));
  const [currency = null] = currencies;
  const labels = [item['categories'], item['tags']].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]).slice(0, 20) : [],
  );
  return {
    id,
    title: textOf(item['title']) ?? '',
    labels: textsOf(...labels),
    price: currencies.size === 1 && currency !== null ? lowestPrice(offers) : null,
    currency: currencies.size === 1 ? currency : null,
    isAvailable: anyAvailable(offers),
  };
}

function offerOf(variant: JsonObject): Offer {
  const isOnSale = variant['onSale'] === true;
  const [money, minor] = isOnSale ? [variant['salePriceMoney'], variant['salePrice']] : [variant['priceMoney'], variant['price']];
  const stock = countOf(variant['qtyInStock']);
  const isAvailable = variant['unlimited'] === true ? true : stock === null ? null : stock > 0;
  return { price: agreedPrice(numberOf(objectOf(money)['value']), numberOf(minor)), isAvailable };
}

/** The price in major units; none where the one in minor units is another. */
function agreedPrice(major: number | null, minor: number | null): number | null {
  if (major === null || minor === null) return major;
  return MINOR_UNITS.some((unit) => Math.abs(major * unit - minor) < 0.5) ? major : null;
}
