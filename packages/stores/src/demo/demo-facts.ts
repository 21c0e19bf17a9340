import type { ObservationFacts } from '../observation/observation.ts';

/** The observation of a store that does not exist: its domain is reserved for examples (RFC 2606). */
export const DEMO_FACTS: ObservationFacts = {
  domain: 'example.com',
  storefront_host: 'www.example.com',
  name: 'Example Outfitters',
  state: 'active_storefront',
  is_ecommerce: true,
  platform: { slug: 'shopify', confidence: 'high' },
  technologies: [
    { slug: 'google-analytics', install_state: 'active', confidence: 'medium' },
    { slug: 'google-tag-manager', install_state: 'active', confidence: 'medium' },
    { slug: 'gorgias', install_state: 'active', confidence: 'medium' },
    { slug: 'judge-me', install_state: 'active', confidence: 'high' },
    { slug: 'klaviyo', install_state: 'active', confidence: 'high' },
    { slug: 'meta-pixel', install_state: 'active', confidence: 'medium' },
    { slug: 'shop-pay', install_state: 'active', confidence: 'medium' },
    { slug: 'shopify-theme-dawn', install_state: 'active', confidence: 'high' },
    { slug: 'triple-whale', install_state: 'configured', confidence: 'low' },
  ],
  geography: { country: 'CA', basis: 'observed' },
  industry: { slug: 'sporting-goods', basis: 'classified' },
  catalog: {
    product_count: 184,
    available_count: 171,
    currency: 'CAD',
    price_range: { p25: 28, median: 54.5, p75: 119 },
    coverage: 'full',
  },
  scope: 'full',
  coverage_note: null,
};
