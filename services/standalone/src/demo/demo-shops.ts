import type { StorefrontOptions } from '@vitrine/testkit/storefronts/storefront';

/** The fields of a confirmed signal that the demonstration uses. */
export interface ShownSignal {
  readonly type: string;
  readonly technology: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

type Look = Pick<StorefrontOptions, 'platform' | 'technologies'>;

/** A fixture storefront that changes once in each run: from the first version to the second, or back if an earlier run has changed it. */
export interface DemoShop {
  readonly storefront: StorefrontOptions;
  readonly looks: readonly [Look, Look];
  /** Whether a signal reports this change. */
  readonly isChange: (signal: ShownSignal) => boolean;
}

const technologyChanged = (slug: string) => (signal: ShownSignal) => signal.technology === slug;

/** Their names are reserved for examples (RFC 2606). */
export const DEMO_SHOPS: readonly DemoShop[] = [
  {
    storefront: {
      host: 'example.com',
      name: 'Example Outfitters',
      platform: 'shopify',
      country: 'CA',
      currency: 'CAD',
      products: 36,
    },
    looks: [{ technologies: ['klaviyo'] }, { technologies: ['klaviyo', 'judge-me'] }],
    isChange: technologyChanged('judge-me'),
  },
  {
    storefront: { host: 'example.net', name: 'Example Ceramics', platform: 'woocommerce', country: 'DE', products: 24 },
    looks: [{ technologies: ['google-analytics', 'hotjar'] }, { technologies: ['google-analytics'] }],
    isChange: technologyChanged('hotjar'),
  },
  {
    storefront: { host: 'example.org', name: 'Example Coffee', country: 'NL', products: 18, technologies: ['trustpilot'] },
    looks: [{ platform: 'woocommerce' }, { platform: 'shopify' }],
    isChange: ({ type }) => type === 'platform_migrated',
  },
];

/** Scanned only on request. Its name is reserved like those of the other three. */
export const UNSCANNED_SHOP: StorefrontOptions = {
  host: 'example.edu',
  name: 'Example Campus Shop',
  platform: 'bigcommerce',
  country: 'US',
  currency: 'USD',
  technologies: ['klaviyo', 'stripe'],
};

export const DEMO_DOMAINS: readonly string[] = DEMO_SHOPS.map(({ storefront }) => storefront.host);
