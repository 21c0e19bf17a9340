import { z } from 'zod';
import {
  catalogCoverage,
  confidence,
  installState,
  matchOutcome,
  observationScope,
  signalType,
  storeStatus,
  technologyKind,
  count,
  dateTime,
  uri,
} from './enumerations.ts';

// The order of fields is that of the API, and therefore of stored profiles. Spec: S2.2 to S2.6.

const platform = z
  .object({
    slug: z.string().describe('Slug of the platform in the vocabulary.'),
    name: z.string(),
    confidence,
    first_observed_at: dateTime.describe('First completed observation with this platform.'),
    last_confirmed_at: dateTime.describe('Most recent completed observation with it.'),
  })
  .meta({ id: 'Platform' });

const storeTechnology = z
  .object({
    slug: z.string(),
    name: z.string(),
    category: z.string().describe('Category slug.'),
    install_state: installState,
    confidence,
    first_observed_at: dateTime.describe('First completed observation where present.'),
    last_confirmed_at: dateTime.describe('Most recent completed observation where present.'),
  })
  .meta({ id: 'StoreTechnology' });

/** Spec: S2.17. */
export const geography = z
  .object({
    country: z.string().length(2).nullable().describe('ISO 3166-1 alpha-2; null when undetermined.'),
    basis: z.enum(['observed', 'inferred']).nullable(),
  })
  .meta({ id: 'Geography' });
export type Geography = z.infer<typeof geography>;

/** Spec: S2.17. */
export const industry = z
  .object({
    slug: z.string().nullable().describe('Null when unclassified.'),
    basis: z.enum(['classified', 'declared']).nullable(),
  })
  .meta({ id: 'Industry' });
export type Industry = z.infer<typeof industry>;

const price = z.number().min(0);
export const priceRange = z
  .object({ p25: price, median: price, p75: price })
  .meta({ id: 'PriceRange', description: 'In currency.' });
export type PriceRange = z.infer<typeof priceRange>;

const catalogSummary = z
  .object({
    product_count: count.describe('Products seen in the last completed census.'),
    available_count: count.nullable().describe('Products with a purchasable variant; null when availability was not recorded.'),
    currency: z.string().length(3).nullable().describe('ISO 4217.'),
    price_range: priceRange.nullable(),
    as_of: dateTime.describe('When the census completed.'),
    coverage: catalogCoverage.describe('Counts under first_page and partial are lower bounds.'),
  })
  .meta({ id: 'CatalogSummary' });

const observation = z
  .object({
    last_completed_scan_at: dateTime.nullable().describe('Null: the store is known but never fully observed.'),
    scope: observationScope.nullable(),
    coverage_note: z.string().nullable().describe('A caveat in plain language.'),
  })
  .meta({ id: 'Observation' });

const recentSignal = z
  .object({
    id: z.string().describe('The same fact has the same id on every delivery: dedupe on it.'),
    type: signalType,
    technology: z.string().nullable().describe('Slug for technology events.'),
    from: z.string().nullable().describe('Previous platform of a migration.'),
    to: z.string().nullable().describe('New platform of a migration.'),
    effective_at: dateTime.describe('First completed observation showing the new state.'),
    confirmed_at: dateTime.describe('When the confirmation rule was satisfied.'),
    confidence,
  })
  .meta({ id: 'RecentSignal' });

/** Signals of a store in its profile. Spec: S2.21. */
export const MAX_RECENT_SIGNALS = 5;

/** Spec: S2.2, S2.4. */
export const store = z
  .object({
    domain: z.string().describe('Canonical registrable domain; the stable identity of the store.'),
    storefront_host: z.string(),
    storefront_id: z.string(),
    brand_group_id: z.string().nullable(),
    name: z.string().nullable(),
    platform: platform.nullable(),
    status: z.object({ state: storeStatus, as_of: dateTime }),
    technologies: z
      .array(storeTechnology)
      .describe('Missing technologies were not seen within the scope; that is not a removal.'),
    geography,
    industry,
    catalog: catalogSummary.nullable(),
    observation,
    recent_signals: z.array(recentSignal).max(MAX_RECENT_SIGNALS).describe('Most recently confirmed first.'),
    profile_url: uri,
  })
  .meta({ id: 'Store' });
export type Store = z.infer<typeof store>;

export const storeResponse = z
  .object({ match: matchOutcome.extract(['matched', 'stale']), store })
  .meta({ id: 'StoreResponse', description: 'A store and whether it is fresh for the plan.' });
export type StoreResponse = z.infer<typeof storeResponse>;

export const technologyResource = z
  .object({
    slug: z.string().describe('Canonical identifier, the join key everywhere.'),
    name: z.string(),
    kind: technologyKind,
    category: z.string().describe('Category slug; one for each technology.'),
    vendor: z.string().nullable(),
    website: uri.nullable(),
    listing_url: uri.nullable().describe('Public page.'),
  })
  .meta({ id: 'Technology' });
export type TechnologyResource = z.infer<typeof technologyResource>;

/** Spec: S2.25. */
export const technologyPage = z
  .object({
    data: z.array(technologyResource),
    next_cursor: z.string().nullable().describe('Null on the last page; valid for 24 hours.'),
  })
  .meta({ id: 'TechnologyPage' });
