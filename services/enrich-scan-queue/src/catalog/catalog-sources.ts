import type { CatalogSource } from './catalog-page.ts';
import { productSitemap, sitemapProducts } from './sources/sitemap-products.ts';
import { squarespaceProducts } from './sources/squarespace-products.ts';
import {
  jsonCatalog,
  type Offer,
  addressOf,
  namesOf,
  numberOf,
  objectsOf,
  textOf,
  objectOf,
  labelsOf,
  countOf,
} from './json-catalog.ts';

const WOOCOMMERCE_PAGE_SIZE = 100;
/** No currency has more decimal places. */
const MAX_MINOR_UNIT = 4;

/** The Store API of WooCommerce; prices are texts in minor units. */
const woocommerceProducts: CatalogSource = jsonCatalog({
  kind: 'woocommerce_products',
  request: (page) => `/wp-json/wc/store/v1/products?per_page=${WOOCOMMERCE_PAGE_SIZE}&page=${page}`,
  itemsOf: (body) => body,
  isFull: (count) => count >= WOOCOMMERCE_PAGE_SIZE,
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

/** The largest page that VTEX returns. */
const VTEX_PAGE_SIZE = 50;

/** The search of VTEX; the header `resources` has the total (`0-49/320`), and 206 says that there is more. */
const vtexProducts: CatalogSource = jsonCatalog({
  kind: 'vtex_products',
  statuses: [200, 206],
  request: (page) =>
    `/api/catalog_system/pub/products/search?_from=${(page - 1) * VTEX_PAGE_SIZE}&_to=${page * VTEX_PAGE_SIZE - 1}`,
  itemsOf: (body) => body,
  isFull: (count) => count >= VTEX_PAGE_SIZE,
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

/** The largest page that Shopify returns. */
const SHOPIFY_PAGE_SIZE = 250;

/** Prices are texts in major units without a currency, which the settings of the shop have (`/meta.json`). */
const shopifyProducts: CatalogSource = jsonCatalog({
  kind: 'shopify_products',
  request: (page) => `/products.json?limit=${SHOPIFY_PAGE_SIZE}&page=${page}`,
  itemsOf: (body) => objectOf(body)['products'],
  isFull: (count) => count >= SHOPIFY_PAGE_SIZE,
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

/** Magento allows 300. */
const MAGENTO_PAGE_SIZE = 100;

const magentoQuery = (page: number) =>
  `{storeConfig{base_currency_code locale store_name} products(search:"",pageSize:${MAGENTO_PAGE_SIZE},currentPage:${page})` +
  '{total_count items{uid name url_key stock_status price_range{minimum_price{final_price{value currency}}}}}}';
const magentoProductsOf = (body: unknown) => objectOf(objectOf(objectOf(body)['data'])['products']);

/** The GraphQL endpoint of Magento, which answers queries by GET. */
const magentoProducts: CatalogSource = jsonCatalog({
  kind: 'magento_products',
  request: (page) => `/graphql?query=${encodeURIComponent(magentoQuery(page))}`,
  itemsOf: (body) => magentoProductsOf(body)['items'],
  isFull: (count) => count >= MAGENTO_PAGE_SIZE,
  totalOf: ({ body }) => magentoProductsOf(body)['total_count'],
  readItem: (item) => {
    const { value, currency } = objectOf(objectOf(objectOf(item['price_range'])['minimum_price'])['final_price']);
    const stock = item['stock_status'];
    const isAvailable = stock === 'IN_STOCK' ? true : stock === 'OUT_OF_STOCK' ? false : null;
    const offers = [{ price: numberOf(value), isAvailable }];
    return { id: item['uid'], title: item['name'], currency, offers, address: addressOf(item['url_key'], '/', '.html') };
  },
});

/** The products that a shop of Big Cartel shows. Its pages have no size that is documented, so only an empty one is the end. Prices are in major
 *  units without a currency, which structured data of the shop's pages states. */
const bigCartelProducts: CatalogSource = jsonCatalog({
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

/** By slug of the platform. Other platforms have no verified public endpoint with product data, only sitemaps. */
const SOURCES: Readonly<Record<string, CatalogSource>> = {
  shopify: shopifyProducts,
  woocommerce: woocommerceProducts,
  magento: magentoProducts,
  vtex: vtexProducts,
  'squarespace-commerce': squarespaceProducts,
  'big-cartel': bigCartelProducts,
  bigcommerce: productSitemap('bigcommerce_sitemap', '/xmlsitemap.php?type=products&page=1'),
  'wix-stores': productSitemap('wix_sitemap', '/store-products-sitemap.xml'),
};

/** How to read the catalogue of this platform; undefined if it is not supported. */
export function catalogSourceOf(platform: string): CatalogSource | undefined {
  return Object.hasOwn(SOURCES, platform) ? SOURCES[platform] : undefined;
}

/** The source of a document. */
export function catalogSourceOfKind(kind: string): CatalogSource | undefined {
  return [...Object.values(SOURCES), sitemapProducts].find((source) => source.kind === kind);
}
