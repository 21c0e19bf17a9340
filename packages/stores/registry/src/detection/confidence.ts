import type { Channel } from '../rules/rule-index.ts';
import type { Sighting } from './find-sightings.ts';

export type Confidence = 'high' | 'medium' | 'low';

/** `high`: two independent channels, one of them strong; `medium`: one strong or two weak; `low`: one weak; undefined: nothing that reports.
 *  A hint (preconnect, policy) is as good as a second weak channel and never makes `high`. Spec: S2.7, S8.9. */
export function confidenceOf(sightings: readonly Sighting[]): Confidence | undefined {
  const strong = channelsOf(sightings, 'strong');
  const weak = channelsOf(sightings, 'weak');
  if (strong.size === 0 && weak.size === 0) return undefined;
  const all = new Set([...strong, ...weak, ...channelsOf(sightings, 'adds')]);
  const independent = all.has('hint') ? all.size - 1 : all.size;
  if (strong.size > 0) return independent > 1 ? 'high' : 'medium';
  return all.size > 1 ? 'medium' : 'low';
}

function channelsOf(sightings: readonly Sighting[], strength: Sighting['rule']['strength']): Set<Channel> {
  return new Set(sightings.filter(({ rule }) => rule.strength === strength).map(({ channel }) => channel));
}
