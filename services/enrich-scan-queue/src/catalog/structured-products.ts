import type { PageEvidence } from '@vitrine/registry/evidence/evidence';
import type { CatalogProduct } from './catalog-page.ts';
import { currencyOf, numberOf, textsOf } from './json-fields.ts';

/** Products in structured data of the read pages, each once: by SKU, else by name. Contradictory values are null. */
export function structuredProducts(
  pages: readonly { readonly jsonLd: Pick<PageEvidence['jsonLd'], 'products'> }[],
): CatalogProduct[] {
  const byId = new Map<string, CatalogProduct>();
  for (const { name, sku, price: text, currency: code, category } of pages.flatMap(({ jsonLd }) => jsonLd.products)) {
    const id = sku ?? name;
    if (id === null) continue;
    const amount = numberOf(text);
    const [price, currency] = [amount !== null && amount > 0 ? amount : null, currencyOf(code)];
    const known = byId.get(id);
    const isContradicted = known !== undefined && (known.price !== price || known.currency !== currency);
    const stated = isContradicted ? { price: null, currency: null } : { price, currency };
    byId.set(id, { id, title: name ?? '', labels: textsOf(category), ...stated, isAvailable: null, address: null });
  }
  return [...byId.values()];
}

/** The currency stated by all of them; null if there are two or none. */
export function oneCurrency(products: readonly CatalogProduct[]): string | null {
  const currencies = new Set(products.map(({ currency }) => currency).filter((currency) => currency !== null));
  const [currency = null] = currencies;
  return currencies.size === 1 ? currency : null;
}
