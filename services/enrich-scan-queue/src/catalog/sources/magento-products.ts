import type { CatalogSource } from '../catalog-page.ts';
import { jsonCatalog } from '../json-catalog.ts';
import { addressOf, numberOf, objectOf } from '../json-fields.ts';

/** Magento allows 300. */
const PAGE_SIZE = 100;

const query = (page: number) =>
  `{storeConfig{base_currency_code locale store_name} products(search:"",pageSize:${PAGE_SIZE},currentPage:${page})` +
  '{total_count items{uid name url_key stock_status price_range{minimum_price{final_price{value currency}}}}}}';
const productsOf = (body: unknown) => objectOf(objectOf(objectOf(body)['data'])['products']);

/** The GraphQL endpoint of Magento, which accepts queries by GET. */
export const magentoProducts: CatalogSource = jsonCatalog({
  kind: 'magento_products',
  request: (page) => `/graphql?query=${encodeURIComponent(query(page))}`,
  itemsOf: (body) => productsOf(body)['items'],
  isFull: (count) => count >= PAGE_SIZE,
  totalOf: ({ body }) => productsOf(body)['total_count'],
  readItem: (item) => {
    const { value, currency } = objectOf(objectOf(objectOf(item['price_range'])['minimum_price'])['final_price']);
    const stock = item['stock_status'];
    const isAvailable = stock === 'IN_STOCK' ? true : stock === 'OUT_OF_STOCK' ? false : null;
    const offers = [{ price: numberOf(value), isAvailable }];
    return { id: item['uid'], title: item['name'], currency, offers, address: addressOf(item['url_key'], '/', '.html') };
  },
});
