import type { DetectedTechnology } from '../observation/observation-facts.ts';
import { includesRules, showsAbsence, wouldShow } from './comparable.ts';
import {
  confirmSignal,
  momentOf,
  sightingOf,
  technologySeen,
  type DerivationContext,
  type LoggedObservation,
} from './derivation-context.ts';
import { compareMoments, type ConfirmedSignal, type Coverage, type TrackedTechnology } from './derivation-state.ts';

/** Spec: S9.4. */
const MISSES_TO_REMOVAL = 3;

interface Scan {
  readonly observation: LoggedObservation;
  /** Coverages of earlier scans, under the rules of this one. */
  readonly coverages: readonly Coverage[];
  /** The store's confirmed platform after this scan, and whether the scan shows it. */
  readonly platform: { readonly slug: string; readonly is_seen: boolean } | null;
  readonly context: DerivationContext;
}

interface Tracked {
  readonly technology: TrackedTechnology;
  readonly signals: readonly ConfirmedSignal[];
}

/** Tracks a technology shown by the scan. */
export function trackSighting(known: TrackedTechnology | undefined, detected: DetectedTechnology, scan: Scan): Tracked {
  const { observation, coverages, context } = scan;
  const { slug, confidence } = detected;
  const sighting = sightingOf(observation, detected, scan.platform?.slug ?? null);
  const earlier = coverages.filter((coverage) => known === undefined || compareMoments(coverage, known.sighting) > 0);
  const seenBefore = earlier.filter(({ seen }) => seen.includes(slug));
  const technology = technologySeen(known, detected, sighting, coverages);
  const isAddition =
    known === undefined || known.install_state === 'inactive'
      ? seenBefore.length === 0 &&
        earlier.some(
          (coverage) =>
            showsAbsence(coverage, detected) &&
            // Before a move another site was scanned, so technologies that it did not show may have been here already.
            (coverage.domain ?? observation.facts.domain) === observation.facts.domain &&
            // After a removal the misses prove the absence. Only the rules must be comparable, because they may have changed since.
            (known === undefined
              ? wouldShow(coverage, sighting, context.ruleIds)
              : includesRules(coverage.registry_checksum, sighting, context.ruleIds)),
        )
      : false;
  if (!isAddition) return { technology, signals: [] };
  const first = momentOf(observation);
  return {
    technology,
    signals: [confirmSignal(context, observation, { type: 'technology_added', technology: slug, first, confidence })],
  };
}

/** Tracks a technology not shown by the scan: a miss if the scan would have shown it, and a removal after three. */
export function trackMiss(known: TrackedTechnology, scan: Scan): Tracked {
  const { observation, context } = scan;
  if (known.install_state === 'inactive' || known.is_retracted) return { technology: known, signals: [] };
  const misses = isMiss(known, scan)
    ? {
        count: Math.min(MISSES_TO_REMOVAL, (known.misses?.count ?? 0) + 1),
        first: known.misses?.first ?? momentOf(observation),
      }
    : known.misses;
  const { slug, confidence } = known;
  if (misses === null || misses.count < MISSES_TO_REMOVAL || context.isHeld(slug, observation.completed_at))
    return { technology: { ...known, misses }, signals: [] };
  const { first } = misses;
  return {
    technology: { ...known, install_state: 'inactive', misses: null },
    signals: [confirmSignal(context, observation, { type: 'technology_removed', technology: slug, first, confidence })],
  };
}

function isMiss({ slug, sighting }: TrackedTechnology, { observation, platform, context }: Scan): boolean {
  const { facts, registry_checksum } = observation;
  // Technologies of a platform that the store has left can no longer be judged. They are removed with the platform.
  const hasLeftPlatform = platform?.is_seen === true && sighting.platform !== null && sighting.platform !== platform.slug;
  if (facts.withheld.includes(slug) && !hasLeftPlatform) return false;
  return wouldShow({ scope: facts.scope, pages: facts.pages, registry_checksum }, sighting, context.ruleIds);
}
