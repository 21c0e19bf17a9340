import type { FixtureResponse } from './closed-storefront.ts';
import { findPlatform } from './platforms/find-platform.ts';
import { shownPrice } from './platforms/self-hosted.ts';
import { majorUnits, productsOf, type FixtureProduct, type Storefront } from './storefront.ts';
import { TECHNOLOGY_SNIPPETS } from './technology-snippets.ts';

const SHOWN_PRODUCTS = 24;
const FILLER = '<p>Ordered before noon, on its way the same day. Returns are free within thirty days of delivery.</p>\n';

/** The page of a path, or undefined if the storefront has none. */
export function renderPath(path: string, search: string, shop: Storefront): FixtureResponse | undefined {
  const platform = findPlatform(shop.platform);
  if (platform === undefined) return path === '/' ? { body: renderBlog(shop) } : undefined;
  const wanted = `${path}${search}`;
  if (path === '/' && search === '') return { body: page(shop, shop.name, productList(shop)) };
  if (wanted === platform.collectionPath) return { body: page(shop, 'All products', productList(shop)) };
  if (wanted === platform.cartPath.replace(/#.*$/, '')) return { body: page(shop, 'Cart', '<p>Your cart is empty.</p>') };
  const product = productsOf(shop).find((one) => platform.productPath(one) === wanted);
  return product === undefined ? undefined : { body: page(shop, product.title, productDetails(product, shop)) };
}

export function renderNotFound(shop: Storefront): FixtureResponse {
  return { status: 404, body: page(shop, 'Page not found', '<p>There is nothing here.</p>') };
}

function page(shop: Storefront, title: string, main: string): string {
  const platform = findPlatform(shop.platform);
  const snippets = shop.technologies.map((slug) => TECHNOLOGY_SNIPPETS[slug] ?? unknownTechnology(slug)).join('\n');
  const { collectionPath = '/', cartPath = '/' } = platform ?? {};
  const links = shop.linked ? `<a href="${collectionPath}">Shop all</a> <a href="${cartPath}">Cart</a>` : '';
  const html = `<!doctype html>
<html lang="${shop.language}">
<head>
<meta charset="utf-8">
<title>${title} – ${shop.name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta property="og:site_name" content="${shop.name}">
<link rel="canonical" href="https://${shop.host}/">
${platform?.head(shop) ?? ''}
${snippets}
</head>
<body class="${platform?.bodyClass ?? 'page'}">
<header><a href="/">${shop.name}</a> <nav>${links} <a href="/pages/about">About us</a> <a href="https://www.instagram.com/fixture">Instagram</a></nav></header>
<main>
<h1>${title}</h1>
${main}
</main>
<footer><p>© ${shop.name}</p><!-- end of page --></footer>
${platform?.bodyEnd?.(shop) ?? ''}
</body>
</html>
`;
  const missing = shop.pageBytes - html.length;
  return missing <= 0 ? html : html.replace('</main>', () => `${FILLER.repeat(Math.ceil(missing / FILLER.length))}</main>`);
}

function unknownTechnology(slug: string): never {
  throw new Error(`no snippet for technology ${slug}; add it to technology-snippets.ts`);
}

function productList(shop: Storefront): string {
  const platform = findPlatform(shop.platform);
  if (!shop.linked || platform === undefined) return '<div id="app"></div>';
  const entry = (product: FixtureProduct) =>
    `<li><a href="${platform.productPath(product)}">${product.title}</a> <span class="price">${shownPrice(product, shop)}</span></li>`;
  return `<ul class="products">${productsOf({ products: Math.min(shop.products, SHOWN_PRODUCTS) })
    .map(entry)
    .join('\n')}</ul>`;
}

function productDetails(product: FixtureProduct, shop: Storefront): string {
  const facts = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: product.title,
    category: product.type,
    sku: `SKU-${product.id}`,
    offers: {
      '@type': 'Offer',
      price: majorUnits(product.priceMinor),
      priceCurrency: shop.currency,
      availability: `https://schema.org/${product.available ? 'InStock' : 'OutOfStock'}`,
    },
  };
  return `<script type="application/ld+json">${JSON.stringify(facts)}</script>
<p class="price">${shownPrice(product, shop)}</p><form method="post" action="/cart/add"><button name="add">Add to cart</button></form>`;
}

/** A site about shops that is not a shop: names, links and code samples of vendors that it does not use. */
function renderBlog(shop: Storefront): string {
  return `<!doctype html>
<html lang="${shop.language}"><head><meta charset="utf-8"><title>${shop.name}</title></head>
<body><h1>Notes on commerce</h1>
<p>We moved a client from <a href="https://woocommerce.com">WooCommerce</a> to <a href="https://www.shopify.com">Shopify</a> and kept
<a href="https://www.klaviyo.com">Klaviyo</a>.</p>
<pre><code>&lt;script src="https://static.klaviyo.com/onsite/js/XyZ123/klaviyo.js"&gt;&lt;/script&gt;</code></pre>
<!-- <script src="https://cdn.shopify.com/s/files/1/theme.js"></script> --></body></html>
`;
}
