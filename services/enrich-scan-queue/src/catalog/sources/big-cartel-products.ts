import type { CatalogSource } from '../catalog-page.ts';
import { jsonCatalog, type Offer } from '../json-catalog.ts';
import { addressOf, namesOf, numberOf, objectsOf, textOf } from '../json-fields.ts';

/** The products of a Big Cartel shop. The page size is undocumented, so only an empty page is the end. Prices are in major
 *  units without a currency, which structured data of the shop's pages states. */
export const bigCartelProducts: CatalogSource = jsonCatalog({
  kind: 'big_cartel_products',
  hasCurrencyOnPages: true,
  request: (page) => (page === 1 ? '/products.json' : `/products.json?page=${page}`),
  itemsOf: (body) => body,
  isFull: (count) => count > 0,
  readItem: (item) => {
    const status = textOf(item['status']);
    const isShown = status === 'active' ? true : status === null ? null : false;
    const price = numberOf(item['price']) ?? numberOf(item['default_price']);
    const options = (objectsOf(item['options']) ?? []).map((option): Offer => {
      const isSoldOut = option['sold_out'];
      const isAvailable = isShown === true && typeof isSoldOut === 'boolean' ? !isSoldOut : isShown;
      return { price: numberOf(option['price']) ?? price, isAvailable };
    });
    const offers = options.length > 0 ? options : [{ price, isAvailable: isShown }];
    const address = addressOf(item['url']);
    return { id: item['id'], title: item['name'], labels: namesOf(item['categories']), offers, address };
  },
});
