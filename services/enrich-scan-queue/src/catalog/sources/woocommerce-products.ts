import type { CatalogSource } from '../catalog-page.ts';
import { jsonCatalog } from '../json-catalog.ts';
import { addressOf, countOf, namesOf, numberOf, objectOf } from '../json-fields.ts';

const PAGE_SIZE = 100;
/** No currency has more decimal places. */
const MAX_MINOR_UNIT = 4;

/** The Store API of WooCommerce; prices are strings in minor units. */
export const woocommerceProducts: CatalogSource = jsonCatalog({
  kind: 'woocommerce_products',
  request: (page) => `/wp-json/wc/store/v1/products?per_page=${PAGE_SIZE}&page=${page}`,
  itemsOf: (body) => body,
  isFull: (count) => count >= PAGE_SIZE,
  totalOf: ({ headers }) => headers['x-wp-total'],
  readItem: (item) => {
    const prices = objectOf(item['prices']);
    const unit = countOf(prices['currency_minor_unit']);
    const minor = numberOf(objectOf(prices['price_range'])['min_amount']) ?? numberOf(prices['price']);
    const price = minor !== null && unit !== null && unit <= MAX_MINOR_UNIT ? minor / 10 ** unit : null;
    const [isPurchasable, isInStock] = [item['is_purchasable'], item['is_in_stock']];
    const isStated = typeof isPurchasable === 'boolean' && typeof isInStock === 'boolean';
    const offers = [{ price, isAvailable: isStated ? isPurchasable && isInStock : null }];
    const currency = prices['currency_code'];
    const address = addressOf(item['permalink']);
    return { id: item['id'], title: item['name'], labels: namesOf(item['categories']), currency, offers, address };
  },
});
