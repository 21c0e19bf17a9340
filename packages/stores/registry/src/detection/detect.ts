import { PAGE_BOUND, type PageEvidence, type StoreEvidence } from '../evidence/evidence.ts';
import { CHANNELS, REGISTRY_INDEX, type Channel, type RuleIndex } from '../rules/rule-index.ts';
import type { Strength } from '../technology.ts';
import { findTechnology } from '../vocabulary.ts';
import { findSightings, type Sighting } from './find-sightings.ts';

/** Maximum sightings kept per technology: one per class of pages, channel and rule. */
const SIGHTING_BOUND = 64;
const RULE_TEXT_BOUND = 200;

type Confidence = 'high' | 'medium' | 'low';

/** The evidence lists of each channel. If one was full, the channel is incomplete. */
const SOURCES: Readonly<Partial<Record<Channel, readonly string[]>>> = {
  host: ['scripts', 'inertScripts', 'frames'],
  inline: ['inlineUrls', 'inlineNames', 'inlineIds'],
  asset: ['assets', 'images', 'forms'],
  data: ['dataHosts'],
  cookie: ['cookies'],
  meta: ['metas'],
  path: ['scripts', 'frames', 'assets', 'forms'],
  markup: ['forms', 'elements', 'attributes', 'classes', 'scriptIds'],
  app: ['scripts', 'appBlocks', 'emptyAppBlocks', 'webPixels'],
  link: ['linkHosts'],
  hint: ['hints'],
};

/** The names are those of the log of observations (`Detections` of packages/stores/model). */
export interface DetectedTechnology {
  readonly slug: string;
  readonly install_state: 'active' | 'configured';
  readonly confidence: Confidence;
  readonly sightings: { readonly page_class: string; readonly channel: Channel; readonly rule: string }[];
}

export interface Detection {
  /** Classes of pages that were read, with the channels readable on all of their pages. */
  readonly pages: Record<string, Channel[]>;
  /** By slug; platforms are technologies. */
  readonly technologies: DetectedTechnology[];
  /** Neither present nor absent: seen but not judged, or not searched when the evidence was read. */
  readonly withheld: string[];
}

/** Applies the rules to the evidence of a scan. Pure. Spec: S8.8, S9.10. */
export function detect(evidence: StoreEvidence, index: RuleIndex = REGISTRY_INDEX): Detection {
  const bySlug = Map.groupBy(findSightings(evidence, index), ({ rule }) => rule.slug);
  const seen = new Map<string, DetectedTechnology>();
  for (const [slug, sightings] of bySlug) {
    const confidence = confidenceOf(sightings);
    if (confidence !== undefined) seen.set(slug, technologyOf(slug, confidence, sightings));
  }
  const withheld = new Set([...unreadable(evidence, index).filter((slug) => !seen.has(slug)), ...imitated(seen, index)]);
  for (const slug of notJudged(seen, withheld, index)) withheld.add(slug);
  const technologies = [...seen.values()].filter(({ slug }) => !withheld.has(slug));
  const reported = new Set(technologies.map(({ slug }) => slug));
  return {
    pages: channelsRead(evidence.pages.slice(0, PAGE_BOUND), evidence.endpoints),
    technologies: technologies.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
    withheld: [...withheld].filter((slug) => !reported.has(slug)).toSorted(),
  };
}

function technologyOf(slug: string, confidence: Confidence, sightings: readonly Sighting[]): DetectedTechnology {
  const isPlatform = findTechnology(slug)?.kind === 'platform';
  const isActive = isPlatform || sightings.some(({ loads, rule }) => loads && rule.strength !== 'adds');
  const distinct = new Map(
    sightings.map(({ place, channel, rule }) => [
      `${place} ${channel} ${rule.id}`,
      { page_class: place, channel, rule: rule.id.slice(0, RULE_TEXT_BOUND) },
    ]),
  );
  return {
    slug,
    install_state: isActive ? 'active' : 'configured',
    confidence,
    sightings: [...distinct.values()].slice(0, SIGHTING_BOUND),
  };
}

/** Platforms whose marks are imitated by another one that was detected with certainty. */
function imitated(seen: ReadonlyMap<string, DetectedTechnology>, index: RuleIndex): string[] {
  return [...seen.values()]
    .filter(({ confidence }) => confidence !== 'low')
    .flatMap(({ slug }) => index.rules[slug]?.excludes ?? [])
    .filter((slug) => seen.has(slug));
}

/** Technologies reported only with a platform, if the platform is unknown or uses them for all its stores. */
function notJudged(seen: ReadonlyMap<string, DetectedTechnology>, withheld: ReadonlySet<string>, index: RuleIndex): string[] {
  const isSure = ({ slug, confidence }: DetectedTechnology) => confidence !== 'low' && !withheld.has(slug);
  const platforms = new Set(
    [...seen.values()].filter(isSure).flatMap(({ slug }) => (findTechnology(slug)?.kind === 'platform' ? slug : [])),
  );
  return [...seen.keys()].filter((slug) => {
    const { requires, suppliedBy } = index.rules[slug] ?? {};
    if (requires !== undefined) return !platforms.has(requires);
    return suppliedBy !== undefined && (platforms.size === 0 || suppliedBy.some((platform) => platforms.has(platform)));
  });
}

/** Technologies with literals that were not searched when the evidence was read. */
function unreadable({ pages }: StoreEvidence, index: RuleIndex): string[] {
  const oldest = Math.min(...pages.map(({ literals }) => literals));
  return [...index.literalsSince].flatMap(([slug, since]) => (since > oldest ? slug : []));
}

/** `high`: two independent channels, one of them strong; `medium`: one strong or two weak; `low`: one weak; undefined: no reporting rule.
 *  A hint (preconnect, policy) is as good as a second weak channel and never makes `high`. Spec: S2.7, S8.9. */
function confidenceOf(sightings: readonly Sighting[]): Confidence | undefined {
  const strong = channelsOf(sightings, 'strong');
  const weak = channelsOf(sightings, 'weak');
  if (strong.size === 0 && weak.size === 0) return undefined;
  const all = new Set([...strong, ...weak, ...channelsOf(sightings, 'adds')]);
  const independent = all.has('hint') ? all.size - 1 : all.size;
  if (strong.size > 0) return independent > 1 ? 'high' : 'medium';
  return all.size > 1 ? 'medium' : 'low';
}

/** Channels with a match of a rule of this strength. */
export function channelsOf(sightings: readonly Sighting[], strength: Strength): Set<Channel> {
  return new Set(sightings.filter(({ rule }) => rule.strength === strength).map(({ channel }) => channel));
}

/** The readable channels common to every page of a class. */
function channelsRead(pages: readonly PageEvidence[], endpoints: Readonly<Record<string, string>>): Record<string, Channel[]> {
  const read: Record<string, Channel[]> = {};
  for (const { pageClass, truncated } of pages) {
    const before: readonly Channel[] = read[pageClass] ?? CHANNELS.filter((channel) => channel !== 'endpoint');
    read[pageClass] = before.filter((channel) => !SOURCES[channel]?.some((list) => truncated.includes(list)));
  }
  if (Object.keys(endpoints).length > 0) read['endpoint'] = ['endpoint'];
  return read;
}
