import type { CatalogSource } from '../catalog-page.ts';
import { jsonCatalog } from '../json-catalog.ts';
import { addressOf, labelsOf, numberOf, objectOf, objectsOf, textOf } from '../json-fields.ts';

/** The largest page that Shopify returns. */
const PAGE_SIZE = 250;

/** Prices are strings in major units without a currency. The currency is in the settings of the shop (`/meta.json`). */
export const shopifyProducts: CatalogSource = jsonCatalog({
  kind: 'shopify_products',
  request: (page) => `/products.json?limit=${PAGE_SIZE}&page=${page}`,
  itemsOf: (body) => objectOf(body)['products'],
  isFull: (count) => count >= PAGE_SIZE,
  readItem: (item) => {
    const type = textOf(item['product_type']);
    // The value of a gift card is not a price of the shop.
    const isGiftCard = type !== null && /^gift[ -]?cards?$/i.test(type);
    const offers = (objectsOf(item['variants']) ?? []).map(({ price, available }) => ({
      price: isGiftCard ? null : numberOf(price),
      isAvailable: typeof available === 'boolean' ? available : null,
    }));
    const address = addressOf(item['handle'], '/products/');
    return { id: item['id'], title: item['title'], labels: [type, ...labelsOf(item['tags'])], offers, address };
  },
});
