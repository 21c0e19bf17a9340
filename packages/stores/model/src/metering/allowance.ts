import type { PlanLimits } from '@vitrine/plans/plan-limits';
import type { UnitCounts } from '../resources/billing.ts';
import type { PlanSlug } from '../resources/enumerations.ts';

/** What a plan includes of each unit in a billing period. Spec: S6.7. */
export function includedUnits({ included, liveRefreshesPerPeriod }: PlanLimits): UnitCounts {
  const { lookup_cached, history_query, refresh_requested } = included;
  return { lookup_cached, lookup_live: liveRefreshesPerPeriod, history_query, refresh_requested };
}

/** Where requests of a plan stop; undefined for partners, which are metered without a stop. */
export function allowanceOf(slug: PlanSlug, limits: PlanLimits): UnitCounts | undefined {
  return slug === 'partner' ? undefined : includedUnits(limits);
}
