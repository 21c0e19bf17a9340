import type { CatalogDocument } from './catalog-page.ts';
import { countOf, currencyOf, objectOf, textOf } from './json-catalog.ts';
import type { ShopSettings } from './take-census.ts';

/** Shop settings that do not depend on the visitor. */
export interface StatedSettings extends ShopSettings {
  readonly name: string | null;
  /** ISO 3166-1 alpha-2, not checked. */
  readonly country: string | null;
  /** A name of the shop at its platform that survives domain changes, such as `name.myshopify.com`. */
  readonly shopId: { readonly platform: string; readonly id: string } | null;
}

const NOTHING: StatedSettings = { name: null, country: null, currency: null, productCount: null, shopId: null };

/** Reads `/meta.json` of Shopify and `storeConfig` of Magento; the first document that states a field wins. */
export function shopSettings(documents: readonly (CatalogDocument & { readonly kind: string })[]): StatedSettings {
  return documents.map(settingsOf).reduceRight(
    (later, earlier) => ({
      name: earlier.name ?? later.name,
      country: earlier.country ?? later.country,
      currency: earlier.currency ?? later.currency,
      productCount: earlier.productCount ?? later.productCount,
      shopId: earlier.shopId ?? later.shopId,
    }),
    NOTHING,
  );
}

function settingsOf({ kind, status, body }: CatalogDocument & { readonly kind: string }): StatedSettings {
  if (status !== 200) return NOTHING;
  if (kind === 'shopify_meta') {
    const meta = objectOf(body);
    const shop = textOf(meta['myshopify_domain'])?.toLowerCase();
    return {
      name: textOf(meta['name']),
      country: textOf(meta['country']),
      currency: currencyOf(meta['currency']),
      productCount: countOf(meta['published_products_count']),
      shopId: shop !== undefined && /^[a-z0-9-]{1,63}\.myshopify\.com$/.test(shop) ? { platform: 'shopify', id: shop } : null,
    };
  }
  if (kind !== 'magento_products') return NOTHING;
  const store = objectOf(objectOf(objectOf(body)['data'])['storeConfig']);
  return { ...NOTHING, name: textOf(store['store_name']), currency: currencyOf(store['base_currency_code']) };
}
