import type { CatalogProduct, CatalogSource } from '../catalog-page.ts';
import { countOf, idOf, numberOf, objectOf, objectsOf, textOf, textsOf, type JsonObject } from '../json-fields.ts';
import { anyAvailable, lowestPrice } from '../lowest-price.ts';

/** The most that VTEX gives in a page. */
const PAGE_SIZE = 50;

/** The search of VTEX; the header `resources` has the total (`0-49/320`), and 206 says that there is more. */
export const vtexProducts: CatalogSource = {
  kind: 'vtex_products',
  listsProducts: true,
  isWhole: true,
  request: (page) => `/api/catalog_system/pub/products/search?_from=${(page - 1) * PAGE_SIZE}&_to=${page * PAGE_SIZE - 1}`,
  read: ({ status, headers, body }) => {
    const items = status === 200 || status === 206 ? objectsOf(body) : undefined;
    if (items === undefined) return undefined;
    return {
      products: items.map(readProduct).filter((one) => one !== null),
      isFull: items.length >= PAGE_SIZE,
      declaredTotal: countOf(headers['resources']?.split('/')[1]),
    };
  },
};

function readProduct(item: JsonObject): CatalogProduct | null {
  const id = idOf(item['productId']);
  if (id === null) return null;
  const sellers = (objectsOf(item['items']) ?? []).flatMap((sku) => objectsOf(sku['sellers']) ?? []);
  const offers = sellers.map((seller) => {
    const offer = objectOf(seller['commertialOffer']);
    const quantity = countOf(offer['AvailableQuantity']);
    return { price: numberOf(offer['Price']), isAvailable: quantity === null ? null : quantity > 0 };
  });
  const categories = Array.isArray(item['categories']) ? (item['categories'] as unknown[]).slice(0, 20) : [];
  return {
    id,
    title: textOf(item['productName']) ?? '',
    labels: textsOf(...categories),
    price: lowestPrice(offers),
    currency: null,
    isAvailable: anyAvailable(offers),
  };
}
