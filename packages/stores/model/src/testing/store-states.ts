import { createId, signalId } from '../identifiers.ts';
import type { Signal, StoreState } from '../profile/store-state.ts';

export const URLS = {
  api_url: 'https://api.example.com',
  console_url: 'https://example.com',
  docs_url: 'https://docs.example.com',
};
export const DAY_MS = 86_400_000;
export const T0: number = Date.UTC(2026, 0, 5, 10);

/** An id that differs only by `n`. */
export const idOf = (prefix: Parameters<typeof createId>[0], n: number): string =>
  createId(prefix, T0 + n, (bytes) => new Uint8Array(bytes));

export function storeState(changes: Partial<StoreState> = {}): StoreState {
  return {
    domain: 'example.com',
    storefront_host: 'www.example.com',
    storefront_id: idOf('sf', 1),
    brand_group_id: null,
    name: 'Käse & Brot',
    platform: { slug: 'shopify', confidence: 'high', first_observed_at: T0, last_confirmed_at: T0 },
    status: { state: 'active_storefront', as_of: T0 },
    technologies: [
      { slug: 'shopify-theme-dawn', install_state: 'active', confidence: 'medium', first_observed_at: T0, last_confirmed_at: T0 },
      { slug: 'klaviyo', install_state: 'configured', confidence: 'high', first_observed_at: T0, last_confirmed_at: T0 },
    ],
    geography: { country: 'DE', basis: 'observed' },
    industry: { slug: 'food-beverages-tobacco', basis: 'classified' },
    catalog: {
      product_count: 62,
      available_count: 60,
      currency: 'EUR',
      price_range: { p25: 9.5, median: 12, p75: 30.25 },
      as_of: T0,
      coverage: 'full',
    },
    observation: { last_completed_scan_at: T0, scope: 'full', coverage_note: null },
    is_ecommerce: true,
    ...changes,
  };
}

/** The n-th signal of the store, confirmed a day after the one before. */
export function signal(n: number, changes: Partial<Signal> = {}): Signal {
  const identity = { storefront_id: idOf('sf', 1), type: 'technology_added', subject: 'klaviyo', observation_id: idOf('obs', n) };
  return {
    id: signalId(identity),
    type: 'technology_added',
    technology: 'klaviyo',
    from: null,
    to: null,
    effective_at: T0 + n * DAY_MS,
    confirmed_at: T0 + n * DAY_MS,
    confidence: 'high',
    ...changes,
  };
}
