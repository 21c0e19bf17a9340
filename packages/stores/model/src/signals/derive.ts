import { withCoverage } from './comparable.ts';
import { momentOf, type DerivationContext, type LoggedObservation } from './derivation-context.ts';
import type { ConfirmedSignal, DerivationState, Redirect } from './derivation-state.ts';
import { isPlatform, platformsOf, trackPlatform } from './track-platform.ts';
import { trackStatus } from './track-status.ts';
import { trackMiss, trackSighting } from './track-technologies.ts';
import { reinterpretWithRules } from './reinterpret-with-rules.ts';

/** A state and the signals that led to it. */
export interface Derived {
  readonly state: DerivationState;
  readonly signals: readonly ConfirmedSignal[];
}

/** More are as good as two. */
const MAX_REDIRECTS = 2;

/** The state after another, later observation, and the signals that it confirms. Spec: S9.3 to S9.14. */
export function deriveNext(
  known: DerivationState | undefined,
  observation: LoggedObservation,
  context: DerivationContext,
): Derived {
  const { facts, completed_at, registry_checksum } = observation;
  // A page that is not open is not comparable.
  const isOpen = facts.condition === 'open';
  const before = isOpen && known !== undefined ? reinterpretWithRules(known, registry_checksum, context) : known;
  const status = trackStatus(before, observation, context);
  const observed = {
    version: 1 as const,
    last: momentOf(observation),
    observation: { last_completed_scan_at: completed_at, scope: facts.scope, coverage_note: facts.coverage_note },
    status: status.status,
    absence: status.absence,
    is_ecommerce: status.is_ecommerce,
    redirect: redirectAfter(before, observation),
  };
  if (!isOpen) return { state: { ...(before ?? unknownStore(observation)), ...observed }, signals: status.signals };

  const { platform, signals: migration } = trackPlatform(before?.platform ?? null, observation, context);
  const coverages = before?.coverages ?? [];
  const isSeen = platformsOf(observation).some(({ slug }) => slug === platform?.slug);
  const scan = {
    observation,
    coverages,
    platform: platform === null ? null : { slug: platform.slug, is_seen: isSeen },
    context,
  };
  const detected = facts.technologies.filter((technology) => !isPlatform(technology));
  const seen = new Set(detected.map(({ slug }) => slug));
  const earlier = new Map((before?.technologies ?? []).map((technology) => [technology.slug, technology]));
  const tracked = [
    ...detected.map((technology) => trackSighting(earlier.get(technology.slug), technology, scan)),
    ...[...earlier.values()].filter(({ slug }) => !seen.has(slug)).map((technology) => trackMiss(technology, scan)),
  ];
  const { scope, domain, pages, withheld } = facts;
  const coverage = { ...momentOf(observation), scope, domain, registry_checksum, pages, seen: [...seen].toSorted(), withheld };
  return {
    state: {
      ...descriptionOf(before, observation),
      ...observed,
      registry_checksum,
      platform,
      technologies: tracked.map(({ technology }) => technology).toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
      coverages: withCoverage(coverages, coverage),
    },
    signals: [...status.signals, ...migration, ...tracked.flatMap(({ signals }) => signals)],
  };
}

/** An open page ends it. Other pages do not affect it. */
function redirectAfter(before: DerivationState | undefined, { facts }: LoggedObservation): Redirect | null {
  const known = before?.redirect ?? null;
  if (facts.condition === 'open') return null;
  const { permanent_redirect: domain } = facts;
  if (facts.condition !== 'redirected' || domain === null) return known;
  return { domain, count: known?.domain === domain ? Math.min(MAX_REDIRECTS, known.count + 1) : 1 };
}

/** Facts stated by the store. Facts missing in a scan are kept, and a guess does not replace a statement. */
function descriptionOf(before: DerivationState | undefined, { facts, completed_at }: LoggedObservation) {
  const keepsGeography =
    facts.geography.country === null || (facts.geography.basis === 'inferred' && before?.geography.basis === 'observed');
  const keepsIndustry =
    facts.industry.slug === null || (facts.industry.basis === 'classified' && before?.industry.basis === 'declared');
  return {
    storefront_host: facts.storefront_host,
    name: facts.name ?? before?.name ?? null,
    geography: keepsGeography ? (before?.geography ?? facts.geography) : facts.geography,
    industry: keepsIndustry ? (before?.industry ?? facts.industry) : facts.industry,
    catalog: facts.catalog === null ? (before?.catalog ?? null) : { ...facts.catalog, as_of: completed_at },
  };
}

function unknownStore({ facts }: LoggedObservation) {
  return {
    storefront_host: facts.storefront_host,
    name: null,
    platform: null,
    technologies: [],
    geography: { country: null, basis: null },
    industry: { slug: null, basis: null },
    catalog: null,
    coverages: [],
  };
}
