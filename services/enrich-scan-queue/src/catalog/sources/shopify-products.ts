import type { CatalogProduct, CatalogSource } from '../catalog-page.ts';
import { idOf, numberOf, objectOf, objectsOf, textOf, textsOf, type JsonObject } from '../json-fields.ts';
import { anyAvailable, lowestPrice } from '../lowest-price.ts';

/** The most that Shopify gives in a page. */
const PAGE_SIZE = 250;

/** Prices are texts in major units without a currency, which the settings of the shop have (`/meta.json`). */
export const shopifyProducts: CatalogSource = {
  kind: 'shopify_products',
  listsProducts: true,
  isWhole: true,
  request: (page) => `/products.json?limit=${PAGE_SIZE}&page=${page}`,
  read: ({ status, body }) => {
    const items = status === 200 ? objectsOf(objectOf(body)['products']) : undefined;
    if (items === undefined) return undefined;
    return {
      products: items.map(readProduct).filter((one) => one !== null),
      isFull: items.length >= PAGE_SIZE,
      declaredTotal: null,
    };
  },
};

function readProduct(item: JsonObject): CatalogProduct | null {
  const id = idOf(item['id']);
  if (id === null) return null;
  const offers = (objectsOf(item['variants']) ?? []).map((variant) => ({
    price: numberOf(variant['price']),
    isAvailable: typeof variant['available'] === 'boolean' ? variant['available'] : null,
  }));
  const type = textOf(item['product_type']);
  // The value of a gift card is no price of the shop.
  const isGiftCard = type !== null && /^gift[ -]?cards?$/i.test(type);
  const tags = Array.isArray(item['tags']) ? (item['tags'] as unknown[]) : [];
  return {
    id,
    title: textOf(item['title']) ?? '',
    labels: textsOf(type, ...tags.slice(0, 20)),
    price: isGiftCard ? null : lowestPrice(offers),
    currency: null,
    isAvailable: anyAvailable(offers),
  };
}
