import type { CatalogSource } from '../catalog-page.ts';
import { jsonCatalog } from '../json-catalog.ts';
import { addressOf, countOf, labelsOf, numberOf, objectOf, objectsOf } from '../json-fields.ts';

/** The largest page that VTEX returns. */
const PAGE_SIZE = 50;

/** The search of VTEX; the header `resources` has the total (`0-49/320`), and 206 means that there is more. */
export const vtexProducts: CatalogSource = jsonCatalog({
  kind: 'vtex_products',
  statuses: [200, 206],
  request: (page) => `/api/catalog_system/pub/products/search?_from=${(page - 1) * PAGE_SIZE}&_to=${page * PAGE_SIZE - 1}`,
  itemsOf: (body) => body,
  isFull: (count) => count >= PAGE_SIZE,
  totalOf: ({ headers }) => headers['resources']?.split('/')[1],
  readItem: (item) => {
    const sellers = (objectsOf(item['items']) ?? []).flatMap((sku) => objectsOf(sku['sellers']) ?? []);
    const offers = sellers.map((seller) => {
      const offer = objectOf(seller['commertialOffer']);
      const quantity = countOf(offer['AvailableQuantity']);
      return { price: numberOf(offer['Price']), isAvailable: quantity === null ? null : quantity > 0 };
    });
    const address = addressOf(item['linkText'], '/', '/p');
    return { id: item['productId'], title: item['productName'], labels: labelsOf(item['categories']), offers, address };
  },
});
