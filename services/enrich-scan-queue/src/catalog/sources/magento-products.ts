import type { CatalogProduct, CatalogSource } from '../catalog-page.ts';
import { countOf, currencyOf, idOf, numberOf, objectOf, objectsOf, textOf, type JsonObject } from '../json-fields.ts';

/** Magento allows 300. */
const PAGE_SIZE = 100;

const query = (page: number) =>
  `{storeConfig{base_currency_code locale store_name} products(search:"",pageSize:${PAGE_SIZE},currentPage:${page})` +
  '{total_count items{uid name url_key stock_status price_range{minimum_price{final_price{value currency}}}}}}';

/** The GraphQL endpoint of Magento, which answers queries by GET. */
export const magentoProducts: CatalogSource = {
  kind: 'magento_products',
  listsProducts: true,
  isWhole: true,
  request: (page) => `/graphql?query=${encodeURIComponent(query(page))}`,
  read: ({ status, body }) => {
    const products = objectOf(objectOf(objectOf(body)['data'])['products']);
    const items = status === 200 ? objectsOf(products['items']) : undefined;
    if (items === undefined) return undefined;
    return {
      products: items.map(readProduct).filter((one) => one !== null),
      isFull: items.length >= PAGE_SIZE,
      declaredTotal: countOf(products['total_count']),
    };
  },
};

function readProduct(item: JsonObject): CatalogProduct | null {
  const id = idOf(item['uid']);
  if (id === null) return null;
  const price = objectOf(objectOf(objectOf(item['price_range'])['minimum_price'])['final_price']);
  const value = numberOf(price['value']);
  const stock = item['stock_status'];
  return {
    id,
    title: textOf(item['name']) ?? '',
    labels: [],
    price: value !== null && value > 0 ? value : null,
    currency: currencyOf(price['currency']),
    isAvailable: stock === 'IN_STOCK' ? true : stock === 'OUT_OF_STOCK' ? false : null,
  };
}
