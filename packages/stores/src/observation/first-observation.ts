import { findTechnology } from '@vitrine/registry/vocabulary';
import { signalId } from '../identifiers.ts';
import type { Signal, StoreState } from '../profile/store-state.ts';
import type { SignalType } from '../resources/enumerations.ts';
import type { Observation } from './observation.ts';

/** A state of a store and the signals that an observation confirmed. */
export interface StoreChange {
  readonly state: StoreState;
  readonly signals: readonly Signal[];
}

/** The store after its first completed observation. What was found on it has no earlier state, so it is no addition. Spec: Events. */
export function firstObservation(observation: Observation, storefront_id: string): StoreChange {
  const { facts, completed_at } = observation;
  const platform = facts.technologies.find(({ slug }) => isPlatform(slug));
  const since = { first_observed_at: completed_at, last_confirmed_at: completed_at };
  const state: StoreState = {
    domain: facts.domain,
    storefront_host: facts.storefront_host,
    storefront_id,
    brand_group_id: null,
    name: facts.name,
    platform: platform === undefined ? null : { slug: platform.slug, confidence: platform.confidence, ...since },
    status: { state: facts.shows_products ? 'active_storefront' : 'verified_ecommerce', as_of: completed_at },
    technologies: facts.technologies
      .filter(({ slug }) => !isPlatform(slug))
      .map(({ slug, install_state, confidence }) => ({ slug, install_state, confidence, ...since })),
    geography: facts.geography,
    industry: facts.industry,
    catalog: facts.catalog === null ? null : { ...facts.catalog, as_of: completed_at },
    observation: { last_completed_scan_at: completed_at, scope: facts.scope, coverage_note: facts.coverage_note },
    is_ecommerce: facts.shows_commerce,
  };
  if (!facts.shows_commerce) return { state, signals: [] };
  const types: SignalType[] = ['store_first_observed', ...(facts.shows_products ? ['store_became_active' as const] : [])];
  return { state, signals: types.map((type) => signalOf(type, observation, storefront_id)) };
}

function signalOf(type: SignalType, { id, completed_at, facts }: Observation, storefront_id: string): Signal {
  return {
    id: signalId({ storefront_id, type, subject: '', observation_id: id }),
    type,
    technology: null,
    from: null,
    to: null,
    effective_at: completed_at,
    confirmed_at: completed_at,
    confidence: facts.technologies.find(({ slug }) => isPlatform(slug))?.confidence ?? 'low',
  };
}

function isPlatform(slug: string): boolean {
  return findTechnology(slug)?.kind === 'platform';
}
