import type { Detections, DetectedTechnology } from '../observation/observation-facts.ts';
import { platformSeen, technologySeen, type DerivationContext } from './derivation-context.ts';
import {
  compareMoments,
  type Coverage,
  type DerivationState,
  type LastSighting,
  type TrackedPlatform,
  type TrackedTechnology,
} from './derivation-state.ts';
import { isPlatform, surestPlatform } from './track-platform.ts';

/** More observations than a state references in practice. Those beyond are compared as if their evidence was not kept. */
const MAX_REPLAYS = 16;

/** The detections of a registry's rules on the evidence of an observation; undefined if it was not kept, or the observation already used these
 *  rules. */
type Replay = (seen: { readonly observation_id: string; readonly registry_checksum: string }) => Detections | undefined;

/** A state under the rules of a registry, derived from kept evidence. Technologies that the last open scan shows under these rules are listed.
 *  Technologies no longer detected where they were last seen were an error of other rules, not a change of the store. This gives no signals, and
 *  unreadable evidence keeps its result. Applying the same rules again has no effect. Spec: S9.10. */
export function reinterpretWithRules(
  before: DerivationState,
  registry_checksum: string,
  context: Pick<DerivationContext, 'replay'>,
): DerivationState {
  const replay: Replay = (seen) =>
    seen.registry_checksum === registry_checksum ? undefined : context.replay(seen.observation_id, registry_checksum);
  const last = before.coverages.at(-1);
  const shown = last && replay(last);
  const coverages = before.coverages.map((coverage) => coverageUnder(registry_checksum, coverage, replay));
  const kept = before.platform && platformUnder(registry_checksum, before.platform, replay);
  const technologies = before.technologies.map((known) => technologyUnder(registry_checksum, known, replay));
  const state = { ...before, registry_checksum, coverages, technologies, platform: kept };
  if (last === undefined || shown === undefined) return state;
  const found = before.is_ecommerce && kept === null ? surestPlatform(shown) : undefined;
  const sightingOf = ({ sightings }: DetectedTechnology, platform: string | null): LastSighting => {
    const { observation_id, at, scope } = last;
    return { observation_id, at, scope, registry_checksum, platform, places: sightings };
  };
  const platform = found ? platformSeen(found, sightingOf(found, found.slug), last.at) : kept;
  const bySlug = new Map(technologies.map((technology) => [technology.slug, technology]));
  for (const detected of shown.technologies.filter((one) => !isPlatform(one))) {
    const known = bySlug.get(detected.slug);
    // A removed technology stays removed until a scan shows it.
    if (known?.install_state === 'inactive' || (known && compareMoments(known.sighting, last) >= 0)) continue;
    bySlug.set(detected.slug, technologySeen(known, detected, sightingOf(detected, platform?.slug ?? null), coverages));
  }
  return { ...state, platform, technologies: [...bySlug.values()].toSorted((a, b) => (a.slug < b.slug ? -1 : 1)) };
}

/** Observations whose evidence has to be replayed for this, newest first. */
export function replaysNeeded(before: DerivationState | undefined, registry_checksum: string): string[] {
  if (before === undefined) return [];
  const sightings = before.technologies
    .filter(({ install_state }) => install_state !== 'inactive')
    .map(({ sighting }) => sighting);
  const platform = before.platform === null ? [] : [before.platform.sighting];
  const moments = [...before.coverages, ...sightings, ...platform].filter((seen) => seen.registry_checksum !== registry_checksum);
  const newestFirst = moments.toSorted((a, b) => compareMoments(b, a)).map(({ observation_id }) => observation_id);
  return [...new Set(newestFirst)].slice(0, MAX_REPLAYS);
}

/** The coverage of a scan. */
function coverageUnder(registry_checksum: string, coverage: Coverage, replay: Replay): Coverage {
  const replayed = replay(coverage);
  if (replayed === undefined) return coverage;
  const { pages, technologies, withheld } = replayed;
  const seen = technologies.filter((technology) => !isPlatform(technology)).map(({ slug }) => slug);
  return { ...coverage, registry_checksum, pages, seen: seen.toSorted(), withheld };
}

function technologyUnder(registry_checksum: string, known: TrackedTechnology, replay: Replay): TrackedTechnology {
  const { slug, sighting, install_state } = known;
  const replayed = install_state === 'inactive' ? undefined : replay(sighting);
  if (replayed === undefined || replayed.withheld.includes(slug)) return known;
  const detected = replayed.technologies.find((technology) => technology.slug === slug);
  if (detected !== undefined) {
    const { confidence, sightings: places } = detected;
    const seen = { ...sighting, registry_checksum, places };
    return { ...known, install_state: detected.install_state, confidence, sighting: seen, is_retracted: false };
  }
  if (!isReadable(sighting, replayed)) return known;
  return { ...known, is_retracted: true, misses: null, sighting: { ...sighting, registry_checksum } };
}

function platformUnder(registry_checksum: string, known: TrackedPlatform, replay: Replay): TrackedPlatform | null {
  const replayed = replay(known.sighting);
  if (replayed === undefined || replayed.withheld.includes(known.slug)) return known;
  const detected = replayed.technologies.find(({ slug }) => slug === known.slug);
  if (detected === undefined) return isReadable(known.sighting, replayed) ? null : known;
  const sighting = { ...known.sighting, registry_checksum, places: detected.sightings };
  return { ...known, confidence: detected.confidence, sighting };
}

/** Evidence of another version may lack data for the new rules. */
function isReadable({ places }: LastSighting, { pages }: Detections): boolean {
  return places.every(({ page_class, channel }) => pages[page_class]?.includes(channel));
}
