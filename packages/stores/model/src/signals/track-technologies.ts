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
  /** Of scans before, under the rules of this one. */
  readonly coverages: readonly Coverage[];
  /** Confirmed platform of the store after this scan, and whether the scan shows it. */
  readonly platform: { readonly slug: string; readonly is_seen: boolean } | null;
  readonly context: DerivationContext;
}

interface Tracked {
  readonly technology: TrackedTechnology;
  readonly signals: readonly ConfirmedSignal[];
}

/** A technology that the scan shows. */
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
            // Before a move, another site was scanned: what it did not show may have been here all along.
            (coverage.domain ?? observation.facts.domain) === observation.facts.domain &&
            // After a removal the misses were the comparable absence; here it takes the rules alone, which may have changed since.
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

/** A technology that the scan does not show: a miss when the scan would have shown it, and a removal after three. */
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
  // What belongs to a platform that the store has left cannot be judged any more; with the platform it is gone.
  const hasLeftPlatform = platform?.is_seen === true && sighting.platform !== null && sighting.platform !== platform.slug;
  if (facts.withheld.includes(slug) && !hasLeftPlatform) return false;
  return wouldShow({ scope: facts.scope, pages: facts.pages, registry_checksum }, sighting, context.ruleIds);
}
