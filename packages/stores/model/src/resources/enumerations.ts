import { TECHNOLOGY_KINDS } from '@vitrine/registry/technology';
import { z } from 'zod';

/** RFC 3339 in UTC. */
export const dateTime = z.iso.datetime();
export const uri = z.url();
export const count = z.int().min(0);

/** The time of a resource from milliseconds since the epoch. */
export function dateTimeOf(ms: number): string {
  return new Date(ms).toISOString();
}

// Spec: S2.7 to S2.16.

export const confidence = z.enum(['high', 'medium', 'low']).meta({
  id: 'Confidence',
  description: 'high: corroborated by more than one independent signal; low: a single weak signal, a hint to verify.',
});
export type Confidence = z.infer<typeof confidence>;

export const installState = z.enum(['active', 'configured', 'inactive']).meta({
  id: 'InstallState',
  description:
    'active: loading in the last completed observation; configured: referenced but not loading; inactive: confirmed removal.',
});
export type InstallState = z.infer<typeof installState>;

export const storeStatus = z
  .enum(['candidate', 'reachable', 'verified_ecommerce', 'active_storefront', 'inactive'])
  .meta({ id: 'StoreStatus', description: 'Derived only from completed observations.' });
export type StoreStatus = z.infer<typeof storeStatus>;

export const observationScope = z.enum(['full', 'partial', 'homepage_only']).meta({
  id: 'ObservationScope',
  description: 'Only full supports reading absence as not detected.',
});
export type ObservationScope = z.infer<typeof observationScope>;

export const technologyKind = z.enum(TECHNOLOGY_KINDS).meta({
  id: 'TechnologyKind',
  description: 'app: a listing of a platform marketplace; service: a vendor detected outside of one.',
});

export const matchOutcome = z.enum(['matched', 'stale', 'no_match', 'error']).meta({
  id: 'MatchOutcome',
  description:
    'stale: matched, but last observed before the freshness window of the plan; no_match: no profile was returned, but the site may be a store.',
});

export const noMatchReason = z.enum(['not_in_corpus', 'invalid_domain', 'not_ecommerce', 'blocked']).meta({
  id: 'NoMatchReason',
  description: 'Only not_ecommerce is a statement about the site; blocked: the domain is on a policy denylist.',
});
export type NoMatchReason = z.infer<typeof noMatchReason>;

export const signalType = z
  .enum([
    'store_first_observed',
    'technology_added',
    'technology_removed',
    'platform_migrated',
    'store_became_active',
    'store_became_inactive',
  ])
  .meta({ id: 'SignalType', description: 'A confirmed change.' });
export type SignalType = z.infer<typeof signalType>;

export const catalogCoverage = z.enum(['full', 'first_page', 'partial']);
export type CatalogCoverage = z.infer<typeof catalogCoverage>;

export const planSlug = z.enum(['free', 'pro', 'growth', 'partner']).meta({ id: 'PlanSlug' });
export type PlanSlug = z.infer<typeof planSlug>;

export const SCOPES = [
  'read:stores',
  'read:signals',
  'read:watchlists',
  'write:watchlists',
  'write:scans',
  'read:webhooks',
  'write:webhooks',
  'read:jobs',
  'admin:workspace',
] as const;
export const scope = z.enum(SCOPES).meta({ id: 'Scope', description: 'A permission of a key.' });
export type Scope = z.infer<typeof scope>;
