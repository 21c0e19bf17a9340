import { findTechnology } from '@vitrine/registry/vocabulary';
import type { Technology } from '@vitrine/registry/technology';
import { invariant } from '@vitrine/faults/invariant';
import { createHash } from 'node:crypto';
import { dateTimeOf } from '../resources/enumerations.ts';
import { MAX_RECENT_SIGNALS, type Store } from '../resources/store.ts';
import type { Signal, StoreState, TechnologyState } from './store-state.ts';
import { z } from 'zod';

/** Where people and programs reach this deployment; without a final slash. Spec: S3.31. */
export interface PublicUrls {
  readonly api_url: string;
  readonly console_url: string;
  readonly docs_url: string;
}

/** An origin with an optional path; paths are appended to it. */
const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .refine((url) => !/[?#@]|\/$/.test(url), 'must not carry credentials, a query, a fragment or a final slash');

/** Keys of the configuration of each service that makes URLs; the same in all of them, because profiles are stored with their URLs. */
export const publicUrlKeys = {
  api_url: publicUrl.default('http://127.0.0.1:8081'),
  /** `api_url` unless given. */
  console_url: publicUrl.optional(),
  /** `/docs` below `api_url` unless given. */
  docs_url: publicUrl.optional(),
};

/** Every URL that responses and profiles have begins with one of these. */
export function publicUrlsOf(keys: z.infer<z.ZodObject<typeof publicUrlKeys>>): PublicUrls {
  const { api_url, console_url = api_url, docs_url = `${api_url}/docs` } = keys;
  return { api_url, console_url, docs_url };
}

/** The public page of a technology. */
export function listingUrl({ console_url }: PublicUrls, slug: string): string {
  return `${console_url}/technologies/${slug}`;
}

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
    profile_url: `${urls.console_url}/stores/${state.domain}`,
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
