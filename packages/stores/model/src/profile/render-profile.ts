import { findTechnology } from '@vitrine/registry/vocabulary';
import type { Technology } from '@vitrine/registry/technology';
import { invariant } from '@vitrine/faults/invariant';
import { createHash } from 'node:crypto';
import { dateTimeOf } from '../resources/scalars.ts';
import { MAX_RECENT_SIGNALS, type Store } from '../resources/store.ts';
import { profileUrl, type PublicUrls } from './public-urls.ts';
import type { Signal, StoreState, TechnologyState } from './store-state.ts';

/** A store for responses: the text is stored when its observation is committed, and copied into responses. */
export interface RenderedProfile {
  readonly text: string;
  /** 22 characters of the text's SHA-256, for ETags. */
  readonly hash: string;
}

/** The profile of a store: equal states always give the same text, for any order of technologies and signals. */
export function renderProfile(state: StoreState, signals: readonly Signal[], urls: PublicUrls): RenderedProfile {
  const text = JSON.stringify(profileOf(state, signals, urls));
  return { text, hash: createHash('sha256').update(text).digest('base64url').slice(0, 22) };
}

/** Fields are in the order of the specification, which is also that of the text. */
function profileOf(state: StoreState, signals: readonly Signal[], urls: PublicUrls): Store {
  return {
    domain: state.domain,
    storefront_host: state.storefront_host,
    storefront_id: state.storefront_id,
    brand_group_id: state.brand_group_id,
    name: state.name,
    platform: platformOf(state),
    status: { state: state.status.state, as_of: dateTimeOf(state.status.as_of) },
    technologies: state.technologies.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)).map(technologyOf),
    geography: { country: state.geography.country, basis: state.geography.basis },
    industry: { slug: state.industry.slug, basis: state.industry.basis },
    catalog: catalogOf(state),
    observation: {
      last_completed_scan_at: dateTimeOf(state.observation.last_completed_scan_at),
      scope: state.observation.scope,
      coverage_note: state.observation.coverage_note,
    },
    recent_signals: signals.toSorted(latestFirst).slice(0, MAX_RECENT_SIGNALS).map(signalOf),
    profile_url: profileUrl(urls, state.domain),
  };
}

function platformOf({ platform }: StoreState): Store['platform'] {
  if (platform === null) return null;
  return {
    slug: platform.slug,
    name: vocabularyEntry(platform.slug).name,
    confidence: platform.confidence,
    first_observed_at: dateTimeOf(platform.first_observed_at),
    last_confirmed_at: dateTimeOf(platform.last_confirmed_at),
  };
}

function technologyOf(state: TechnologyState): Store['technologies'][number] {
  const { name, category } = vocabularyEntry(state.slug);
  return {
    slug: state.slug,
    name,
    category,
    install_state: state.install_state,
    confidence: state.confidence,
    first_observed_at: dateTimeOf(state.first_observed_at),
    last_confirmed_at: dateTimeOf(state.last_confirmed_at),
  };
}

function catalogOf({ catalog }: StoreState): Store['catalog'] {
  if (catalog === null) return null;
  const { price_range: range } = catalog;
  return {
    product_count: catalog.product_count,
    available_count: catalog.available_count,
    currency: catalog.currency,
    price_range: range === null ? null : { p25: range.p25, median: range.median, p75: range.p75 },
    as_of: dateTimeOf(catalog.as_of),
    coverage: catalog.coverage,
  };
}

function signalOf(signal: Signal): Store['recent_signals'][number] {
  return {
    id: signal.id,
    type: signal.type,
    technology: signal.technology,
    from: signal.from,
    to: signal.to,
    effective_at: dateTimeOf(signal.effective_at),
    confirmed_at: dateTimeOf(signal.confirmed_at),
    confidence: signal.confidence,
  };
}

function latestFirst(a: Signal, b: Signal): number {
  return b.confirmed_at - a.confirmed_at || (a.id < b.id ? -1 : 1);
}

function vocabularyEntry(slug: string): Technology {
  const technology = findTechnology(slug);
  invariant(technology !== undefined, `the technology ${slug} of a store is in the vocabulary`);
  return technology;
}
