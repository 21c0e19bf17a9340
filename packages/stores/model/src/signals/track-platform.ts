import { findTechnology } from '@vitrine/registry/vocabulary';
import type { Detections, DetectedTechnology } from '../observation/observation-facts.ts';
import type { Confidence } from '../resources/enumerations.ts';
import { wouldShow } from './comparable.ts';
import {
  confirmSignal,
  momentOf,
  platformSeen,
  sightingOf,
  type DerivationContext,
  type LoggedObservation,
} from './derivation-context.ts';
import type { ConfirmedSignal, TrackedPlatform } from './derivation-state.ts';

const STRENGTH: Readonly<Record<Confidence, number>> = { high: 2, medium: 1, low: 0 };

export function isPlatform({ slug }: { readonly slug: string }): boolean {
  return findTechnology(slug)?.kind === 'platform';
}

/** Platforms of an observation, most confident first. */
export function platformsOf({ facts }: { readonly facts: Pick<Detections, 'technologies'> }): DetectedTechnology[] {
  return facts.technologies
    .filter(isPlatform)
    .toSorted((a, b) => STRENGTH[b.confidence] - STRENGTH[a.confidence] || (a.slug < b.slug ? -1 : 1));
}

/** The most confident platform above a weak hint. */
export function surestPlatform(facts: Detections): DetectedTechnology | undefined {
  return platformsOf({ facts }).find(({ confidence }) => confidence !== 'low');
}

interface Tracked {
  readonly platform: TrackedPlatform | null;
  readonly signals: readonly ConfirmedSignal[];
}

/** The platform of a store after an open observation. Another one replaces it after two scans that show it and would have shown the previous one.
 *  While both are present, the first stays. A weak hint confirms no platform. Spec: S9.5. */
export function trackPlatform(
  known: TrackedPlatform | null,
  observation: LoggedObservation,
  context: DerivationContext,
): Tracked {
  const seen = platformsOf(observation);
  const confirmed = seen.filter(({ confidence }) => confidence !== 'low');
  const same = seen.find(({ slug }) => slug === known?.slug);
  if (known === null) {
    const [found] = confirmed;
    return { platform: found === undefined ? null : seenNow(found, observation, observation.completed_at), signals: [] };
  }
  if (same !== undefined) return { platform: seenNow(same, observation, known.first_observed_at), signals: [] };
  const { scope, pages, withheld } = observation.facts;
  const scan = { scope, pages, registry_checksum: observation.registry_checksum };
  const [other] = confirmed.toSorted((a, b) => rank(b, known) - rank(a, known));
  if (other === undefined || withheld.includes(known.slug) || !wouldShow(scan, known.sighting, context.ruleIds))
    return { platform: known, signals: [] };
  if (known.successor?.slug !== other.slug)
    return { platform: { ...known, successor: { slug: other.slug, first: momentOf(observation) } }, signals: [] };
  const { first } = known.successor;
  const { slug: to, confidence } = other;
  return {
    platform: seenNow(other, observation, first.at),
    signals: [confirmSignal(context, observation, { type: 'platform_migrated', from: known.slug, to, first, confidence })],
  };
}

/** The previously seen one comes first, regardless of the current confidence. */
function rank({ slug }: DetectedTechnology, { successor }: TrackedPlatform): number {
  return successor?.slug === slug ? 1 : 0;
}

function seenNow(detected: DetectedTechnology, observation: LoggedObservation, first_observed_at: number): TrackedPlatform {
  return platformSeen(detected, sightingOf(observation, detected, detected.slug), first_observed_at);
}
