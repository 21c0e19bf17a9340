import type { CatalogProduct, CatalogSource } from '../catalog-page.ts';
import { countOf, currencyOf, idOf, numberOf, objectOf, objectsOf, textOf, textsOf, type JsonObject } from '../json-fields.ts';

const PAGE_SIZE = 100;
/** No currency has more decimal places. */
const MAX_MINOR_UNIT = 4;

/** The Store API of WooCommerce; prices are texts in minor units. */
export const woocommerceProducts: CatalogSource = {
  kind: 'woocommerce_products',
  listsProducts: true,
  isWhole: true,
  request: (page) => `/wp-json/wc/store/v1/products?per_page=${PAGE_SIZE}&page=${page}`,
  read: ({ status, headers, body }) => {
    const items = status === 200 ? objectsOf(body) : undefined;
    if (items === undefined) return undefined;
    return {
      products: items.map(readProduct).filter((one) => one !== null),
      isFull: items.length >= PAGE_SIZE,
      declaredTotal: countOf(headers['x-wp-total']),
    };
  },
};

function readProduct(item: JsonObject): CatalogProduct | null {
  const id = idOf(item['id']);
  if (id === null) return null;
  const prices = objectOf(item['prices']);
  const unit = countOf(prices['currency_minor_unit']);
  const range = objectOf(prices['price_range']);
  const minor = numberOf(range['min_amount']) ?? numberOf(prices['price']);
  const isPriced = minor !== null && minor > 0 && unit !== null && unit <= MAX_MINOR_UNIT;
  const [isPurchasable, isInStock] = [item['is_purchasable'], item['is_in_stock']];
  return {
    id,
    title: textOf(item['name']) ?? '',
    labels: textsOf(...(objectsOf(item['categories']) ?? []).slice(0, 20).map((category) => category['name'])),
    price: isPriced ? minor / 10 ** unit : null,
    currency: currencyOf(prices['currency_code']),
    isAvailable: typeof isPurchasable === 'boolean' && typeof isInStock === 'boolean' ? isPurchasable && isInStock : null,
  };
}
