import type { StoreEvidence } from '../evidence/evidence.ts';
import { REGISTRY_INDEX } from '../rules/rule-index.ts';
import type { Strength } from '../technology.ts';
import { detect, type DetectedTechnology } from './detect.ts';
import { findSightings, type Sighting } from './find-sightings.ts';

interface Explanation {
  readonly slug: string;
  readonly verdict: 'reported' | 'withheld' | 'not reported';
  readonly confidence: DetectedTechnology['confidence'] | null;
  readonly install_state: DetectedTechnology['install_state'] | null;
  /** One sentence that states the reason. */
  readonly because: string;
  readonly matches: {
    readonly page_class: string;
    readonly channel: string;
    readonly strength: Strength;
    readonly rule: string;
    readonly found: string;
    readonly loads: boolean;
  }[];
}

/** Why technologies with any match on the evidence are reported or not, by slug. */
export function explain(evidence: StoreEvidence): Explanation[] {
  const { technologies, withheld } = detect(evidence);
  const bySlug = Map.groupBy(findSightings(evidence, REGISTRY_INDEX), ({ rule }) => rule.slug);
  return [...bySlug]
    .map(([slug, sightings]): Explanation => {
      const technology = technologies.find((detected) => detected.slug === slug);
      const verdict = technology === undefined ? (withheld.includes(slug) ? 'withheld' : 'not reported') : 'reported';
      return {
        slug,
        verdict,
        confidence: technology?.confidence ?? null,
        install_state: technology?.install_state ?? null,
        because: because(slug, verdict, sightings),
        matches: sightings.map(({ place, channel, rule, found, loads }) => ({
          page_class: place,
          channel,
          strength: rule.strength,
          rule: rule.id,
          found,
          loads,
        })),
      };
    })
    .toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
}

function because(slug: string, verdict: Explanation['verdict'], sightings: readonly Sighting[]): string {
  const count = (strength: Strength) =>
    new Set(sightings.filter(({ rule }) => rule.strength === strength).map(({ channel }) => channel)).size;
  const channels = `${count('strong')} strong, ${count('weak')} weak and ${count('adds')} adding channels.`;
  if (verdict === 'reported') return channels;
  if (verdict === 'not reported') return `Only marks that add to others: ${channels}`;
  const { requires, suppliedBy } = REGISTRY_INDEX.rules[slug] ?? {};
  if (requires !== undefined) return `Not judged: it is reported only together with ${requires}, which was not seen.`;
  if (suppliedBy !== undefined) return 'Not judged: no platform is known, or its edge has this for all its stores.';
  return 'Not judged: a platform that imitates its marks was seen.';
}
