import type { Transaction } from '@vitrine/postgres/transaction';
import { REGISTRY_CHECKSUM } from '@vitrine/registry/rules/rule-index';
import { createId } from '../identifiers.ts';
import { commitObservation } from '../commit/commit-observation.ts';
import { lockDomain } from '../commit/known-store.ts';
import type { Observation, DetectedTechnology, ObservationFacts } from '../observation/observation-facts.ts';
import type { PublicUrls } from '../profile/render-profile.ts';

const CHANNELS = ['app_handle', 'cookie', 'header', 'host', 'inline', 'meta'];

/** Seen on the home page, for each channel that is named. */
function seen(
  slug: string,
  confidence: DetectedTechnology['confidence'],
  channels: readonly string[],
  install_state: DetectedTechnology['install_state'] = 'active',
): DetectedTechnology {
  const sightings = channels.map((channel) => ({ page_class: 'home', channel, rule: `demo:${slug}:${channel}` }));
  return { slug, install_state, confidence, sightings };
}

/** The observation of a store that does not exist: its domain is reserved for examples (RFC 2606). */
export const DEMO_FACTS: ObservationFacts = {
  version: 1,
  domain: 'example.com',
  storefront_host: 'www.example.com',
  name: 'Example Outfitters',
  condition: 'open',
  scope: 'full',
  coverage_note: null,
  shows_commerce: true,
  shows_products: true,
  pages: { home: CHANNELS, product: CHANNELS, collection: CHANNELS, cart: CHANNELS },
  technologies: [
    seen('shopify', 'high', ['header', 'inline']),
    seen('google-analytics', 'medium', ['host']),
    seen('google-tag-manager', 'medium', ['host']),
    seen('gorgias', 'medium', ['host']),
    seen('judge-me', 'high', ['app_handle', 'host']),
    seen('klaviyo', 'high', ['app_handle', 'host']),
    seen('meta-pixel', 'medium', ['host']),
    seen('shop-pay', 'medium', ['host']),
    seen('shopify-theme-dawn', 'high', ['inline', 'meta']),
    seen('triple-whale', 'low', ['host'], 'configured'),
  ],
  withheld: [],
  geography: { country: 'CA', basis: 'observed' },
  industry: { slug: 'sporting-goods', basis: 'classified' },
  catalog: {
    product_count: 184,
    available_count: 171,
    currency: 'CAD',
    price_range: { p25: 28, median: 54.5, p75: 119 },
    coverage: 'full',
  },
  platform_shop_id: null,
  organization: null,
  hreflang_domains: [],
  permanent_redirect: null,
};

const SCAN_MS = 9_000;
/** Its domain has no store, so a routine scan would replace the recorded data. */
const NEVER_SCAN = `UPDATE stores SET next_scan_at = '9999-01-01Z' WHERE domain = $1`;

/** Commits the recorded observation of the demo store, as if its scan had just completed, unless the store exists. Resolves with its domain. */
export async function commitDemoStore(
  transaction: Transaction,
  urls: PublicUrls,
  nowMs: number,
  random: (bytes: number) => Uint8Array,
): Promise<string> {
  const { domain } = DEMO_FACTS;
  await lockDomain(transaction, domain);
  const observed = 'SELECT FROM stores WHERE domain = $1 AND last_completed_scan_at IS NOT NULL';
  if ((await transaction.query(observed, [domain])).length > 0) return domain;
  const observation: Observation = {
    id: createId('obs', nowMs, random),
    scan_job_id: null,
    started_at: nowMs - SCAN_MS,
    completed_at: nowMs,
    registry_checksum: REGISTRY_CHECKSUM,
    facts: DEMO_FACTS,
  };
  await commitObservation(transaction, observation, { urls, createStorefrontId: () => createId('sf', nowMs, random) });
  await transaction.execute(NEVER_SCAN, [domain]);
  return domain;
}
