import type { Detections, DetectedTechnology, Sighting } from '../observation/observation-facts.ts';
import type { ObservationScope } from '../resources/enumerations.ts';
import type { Coverage, LastSighting } from './derivation-state.ts';

/** The ids of the rules of a registry; undefined if unknown. */
export type RuleIds = (registry_checksum: string) => ReadonlySet<string> | undefined;

const WIDTH: Readonly<Record<ObservationScope, number>> = { homepage_only: 0, partial: 1, full: 2 };
/** More kinds of coverage than a store's scans have in practice; the oldest is dropped, which can only lose an addition. */
const MAX_COVERAGES = 6;

/** The scope of a scan: both an observation and a coverage. */
interface Scanned {
  readonly scope: ObservationScope;
  readonly registry_checksum: string;
  readonly pages: Detections['pages'] | Coverage['pages'];
}

/** Whether a scan would have shown an earlier sighting: its scope is as wide, it read the same pages and channels, and its rules include the
 *  matching ones. Spec: S9.9. */
export function wouldShow(
  scan: Scanned,
  seen: Pick<LastSighting, 'scope' | 'registry_checksum' | 'places'>,
  ruleIds: RuleIds,
): boolean {
  if (WIDTH[scan.scope] < WIDTH[seen.scope]) return false;
  if (!seen.places.every(({ page_class, channel }) => scan.pages[page_class]?.includes(channel) === true)) return false;
  return includesRules(scan.registry_checksum, seen, ruleIds);
}

/** Whether the rules of a registry include all those that matched. */
export function includesRules(
  registry_checksum: string,
  seen: { readonly registry_checksum: string; readonly places: readonly Sighting[] },
  ruleIds: RuleIds,
): boolean {
  if (registry_checksum === seen.registry_checksum) return true;
  const rules = ruleIds(registry_checksum);
  return rules !== undefined && seen.places.every(({ rule }) => rules.has(rule));
}

/** Whether a coverage could judge a technology but did not show it. */
export function showsAbsence({ seen, withheld }: Coverage, { slug }: Pick<DetectedTechnology, 'slug'>): boolean {
  return !seen.includes(slug) && !withheld.includes(slug);
}

/** Adds a coverage and drops earlier ones that it includes. */
export function withCoverage(coverages: readonly Coverage[], added: Coverage): Coverage[] {
  return [...coverages.filter((coverage) => !isAsGood(added, coverage)), added].slice(-MAX_COVERAGES);
}

function isAsGood(added: Coverage, earlier: Coverage): boolean {
  return (
    added.registry_checksum === earlier.registry_checksum &&
    WIDTH[added.scope] >= WIDTH[earlier.scope] &&
    added.withheld.every((slug) => earlier.withheld.includes(slug)) &&
    Object.entries(earlier.pages).every(([page, channels]) =>
      channels.every((channel) => added.pages[page]?.includes(channel) === true),
    )
  );
}
