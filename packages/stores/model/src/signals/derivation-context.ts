import { signalId } from '../identifiers.ts';
import type { DetectedTechnology, Detections, Observation } from '../observation/observation-facts.ts';
import type { Confidence, SignalType } from '../resources/enumerations.ts';
import type { RuleIds } from './comparable.ts';
import type { ConfirmedSignal, Coverage, LastSighting, Moment, TrackedPlatform, TrackedTechnology } from './derivation-state.ts';

/** An entry of the log, from which signals are derived. */
export type LoggedObservation = Pick<Observation, 'id' | 'completed_at' | 'registry_checksum' | 'facts'>;

/** Inputs of a derivation other than the log. All are stored, so that the log can be derived again. */
export interface DerivationContext {
  readonly storefront_id: string;
  readonly ruleIds: RuleIds;
  /** Whether removals of a technology confirmed at a time are held. */
  readonly isHeld: (slug: string, at: number) => boolean;
  /** The detections of a registry's rules on the evidence of an earlier observation; undefined if it was not kept. */
  readonly replay: (observation_id: string, registry_checksum: string) => Detections | undefined;
}

export function momentOf({ id, completed_at }: LoggedObservation): Moment {
  return { observation_id: id, at: completed_at };
}

/** The statement of an observation about a technology, for comparison with later ones. */
export function sightingOf(
  observation: LoggedObservation,
  { sightings }: DetectedTechnology,
  platform: string | null,
): LastSighting {
  const { registry_checksum, facts } = observation;
  return { ...momentOf(observation), scope: facts.scope, registry_checksum, platform, places: sightings };
}

/** A technology as of a sighting. Earlier scans with other rules may also have seen it. */
export function technologySeen(
  known: TrackedTechnology | undefined,
  { slug, install_state, confidence }: DetectedTechnology,
  sighting: LastSighting,
  coverages: readonly Coverage[],
): TrackedTechnology {
  const { at } = sighting;
  const seenAt = coverages.filter(({ seen }) => seen.includes(slug)).map((coverage) => coverage.at);
  const first_observed_at = known?.first_observed_at ?? Math.min(at, ...seenAt);
  const state = { slug, install_state, confidence, first_observed_at, last_confirmed_at: at };
  return { ...state, sighting, misses: null, is_retracted: false };
}

/** A platform as of a sighting. */
export function platformSeen(
  { slug, confidence }: DetectedTechnology,
  sighting: LastSighting,
  first_observed_at: number,
): TrackedPlatform {
  return { slug, confidence, first_observed_at, last_confirmed_at: sighting.at, sighting, successor: null };
}

interface SignalFacts {
  readonly type: SignalType;
  readonly technology?: string;
  readonly from?: string;
  readonly to?: string;
  /** The first observation in the new state. */
  readonly first: Moment;
  readonly confidence: Confidence;
}

/** A signal confirmed by an observation. Spec: S9.12, S9.13. */
export function confirmSignal(
  { storefront_id }: Pick<DerivationContext, 'storefront_id'>,
  observation: LoggedObservation,
  { type, technology, from, to, first, confidence }: SignalFacts,
): ConfirmedSignal {
  const subject = technology ?? (from === undefined ? '' : `${from}>${to}`);
  return {
    id: signalId({ storefront_id, type, subject, observation_id: first.observation_id }),
    type,
    technology: technology ?? null,
    from: from ?? null,
    to: to ?? null,
    effective_at: first.at,
    confirmed_at: observation.completed_at,
    confidence,
    observation_id: observation.id,
  };
}
