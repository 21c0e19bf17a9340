import type { CatalogProduct, CatalogSource } from '../catalog-page.ts';
import { idOf, numberOf, objectsOf, textOf, textsOf, type JsonObject } from '../json-fields.ts';
import { anyAvailable, lowestPrice, type Offer } from '../lowest-price.ts';

/** The products that a shop of Big Cartel shows. Its pages have no size that is documented, so only an empty one is the end. Prices are in major
 *  units without a currency, which structured data of the shop's pages states. */
export const bigCartelProducts: CatalogSource = {
  kind: 'big_cartel_products',
  listsProducts: true,
  isWhole: true,
  hasCurrencyOnPages: true,
  request: (page) => (page === 1 ? '/products.json' : `/products.json?page=${page}`),
  read: ({ status, body }) => {
    const items = status === 200 ? objectsOf(body) : undefined;
    if (items === undefined) return undefined;
    return { products: items.map(readProduct).filter((one) => one !== null), isFull: items.length > 0, declaredTotal: null };
  },
};

function readProduct(item: JsonObject): CatalogProduct | null {
  const id = idOf(item['id']);
  if (id === null) return null;
  const status = textOf(item['status']);
  const isShown = status === 'active' ? true : status === null ? null : false;
  const price = numberOf(item['price']) ?? numberOf(item['default_price']);
  const options = (objectsOf(item['options']) ?? []).map((option): Offer => {
    const isSoldOut = option['sold_out'];
    const isAvailable = isShown === true && typeof isSoldOut === 'boolean' ? !isSoldOut : isShown;
    return { price: numberOf(option['price']) ?? price, isAvailable };
  });
  const offers = options.length > 0 ? options : [{ price, isAvailable: isShown }];
  return {
    id,
    title: textOf(item['name']) ?? '',
    labels: textsOf(...(objectsOf(item['categories']) ?? []).slice(0, 20).map((category) => category['name'])),
    price: lowestPrice(offers),
    currency: null,
    isAvailable: anyAvailable(offers),
  };
}
