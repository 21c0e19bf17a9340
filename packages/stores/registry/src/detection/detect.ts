import { PAGE_BOUND, type StoreEvidence } from '../evidence/evidence.ts';
import { REGISTRY_INDEX, type Channel, type RuleIndex } from '../rules/rule-index.ts';
import { findTechnology } from '../vocabulary.ts';
import { channelsRead } from './channels-read.ts';
import { confidenceOf, type Confidence } from './confidence.ts';
import { findSightings, type Sighting } from './find-sightings.ts';

/** Sightings of one technology that are kept: one per class of pages, channel and rule. */
const SIGHTING_BOUND = 64;
const RULE_TEXT_BOUND = 200;

/** The names are those of the log of observations (`Detections` of packages/stores/model). */
export interface DetectedTechnology {
  readonly slug: string;
  readonly install_state: 'active' | 'configured';
  readonly confidence: Confidence;
  readonly sightings: { readonly page_class: string; readonly channel: Channel; readonly rule: string }[];
}

export interface Detection {
  /** Classes of pages that were read, with the channels that were read on all of their pages. */
  readonly pages: Record<string, Channel[]>;
  /** By slug; platforms are technologies. */
  readonly technologies: DetectedTechnology[];
  /** Seen, or not looked for when the evidence was read, and not judged: neither there nor absent. */
  readonly withheld: string[];
}

/** What the rules make of the evidence of a scan. Pure; the same evidence and rules give the same answer. Spec: S8.8, S9.10. */
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

/** Platforms whose marks another one imitates, which was seen for sure. */
function imitated(seen: ReadonlyMap<string, DetectedTechnology>, index: RuleIndex): string[] {
  return [...seen.values()]
    .filter(({ confidence }) => confidence !== 'low')
    .flatMap(({ slug }) => index.rules[slug]?.excludes ?? [])
    .filter((slug) => seen.has(slug));
}

/** Technologies that only a platform gives a meaning to, and the platform is not known, or has them for all its stores. */
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

/** Technologies with literals that were not looked for when the evidence was read. */
function unreadable({ pages }: StoreEvidence, index: RuleIndex): string[] {
  const oldest = Math.min(...pages.map(({ literals }) => literals));
  return [...index.literalsSince].flatMap(([slug, since]) => (since > oldest ? slug : []));
}
