import type { StoreEvidence } from '../evidence/evidence.ts';
import { REGISTRY_INDEX } from '../rules/rule-index.ts';
import type { Strength } from '../technology.ts';
import { channelsOf, detect } from './detect.ts';
import { findSightings, type Sighting } from './find-sightings.ts';

type Verdict = 'reported' | 'withheld' | 'not reported';

/** Why technologies with any match on the evidence are reported or not, by slug. */
export function explain(evidence: StoreEvidence) {
  const { technologies, withheld } = detect(evidence);
  const bySlug = Map.groupBy(findSightings(evidence, REGISTRY_INDEX), ({ rule }) => rule.slug);
  return [...bySlug]
    .map(([slug, sightings]) => {
      const technology = technologies.find((detected) => detected.slug === slug);
      const verdict: Verdict = technology === undefined ? (withheld.includes(slug) ? 'withheld' : 'not reported') : 'reported';
      return {
        slug,
        verdict,
        confidence: technology?.confidence ?? null,
        install_state: technology?.install_state ?? null,
        /** One sentence that states the reason. */
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

function because(slug: string, verdict: Verdict, sightings: readonly Sighting[]): string {
  const count = (strength: Strength) => channelsOf(sightings, strength).size;
  const channels = `${count('strong')} strong, ${count('weak')} weak and ${count('adds')} adding channels.`;
  if (verdict === 'reported') return channels;
  if (verdict === 'not reported') return `Only marks that add to others: ${channels}`;
  const { requires, suppliedBy } = REGISTRY_INDEX.rules[slug] ?? {};
  if (requires !== undefined) return `Not judged: it is reported only together with ${requires}, which was not seen.`;
  if (suppliedBy !== undefined) return 'Not judged: no platform is known, or its edge has this for all its stores.';
  return 'Not judged: a platform that imitates its marks was seen.';
}
