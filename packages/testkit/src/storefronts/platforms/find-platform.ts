import type { PlatformFixture, StorefrontPlatform } from '../storefront.ts';
import { bigcommerce, bigCartel, nuvemshop, salesforce, squarespace, vtex, wix } from './hosted.ts';
import { ecwid, magento, odoo, opencart, prestashop, shopware, woocommerce } from './self-hosted.ts';
import { shopify } from './shopify.ts';

const PLATFORMS: Readonly<Record<Exclude<StorefrontPlatform, 'none'>, PlatformFixture>> = {
  shopify,
  woocommerce,
  magento,
  bigcommerce,
  'salesforce-commerce-cloud': salesforce,
  prestashop,
  opencart,
  'squarespace-commerce': squarespace,
  'wix-stores': wix,
  shopware,
  ecwid,
  vtex,
  'big-cartel': bigCartel,
  nuvemshop,
  odoo,
};

/** How the platform's pages differ from others'; undefined for a site that sells nothing. */
export function findPlatform(slug: StorefrontPlatform): PlatformFixture | undefined {
  return slug === 'none' ? undefined : PLATFORMS[slug];
}
