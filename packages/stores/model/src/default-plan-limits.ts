import type { PlanLimits } from '@vitrine/plans/plan-limits';
import type { PlanSlug } from './resources/enumerations.ts';
import type { UnitCounts } from './resources/billing.ts';

const includes = (lookup_cached: number) => ({ lookup_cached, history_query: 0, refresh_requested: 0 });

/** The limits of plans without a row. Spec: S6.6. */
export const DEFAULT_PLAN_LIMITS: Readonly<Record<PlanSlug, PlanLimits>> = {
  free: {
    rpm: 30,
    concurrency: 2,
    freshnessDays: 30,
    historyDays: 30,
    enrichBatchMax: 25,
    liveRefreshesPerPeriod: 0,
    included: includes(25),
  },
  pro: {
    rpm: 120,
    concurrency: 5,
    freshnessDays: 30,
    historyDays: 90,
    enrichBatchMax: 100,
    liveRefreshesPerPeriod: 100,
    included: includes(2_500),
  },
  growth: {
    rpm: 300,
    concurrency: 10,
    freshnessDays: 30,
    historyDays: 365,
    enrichBatchMax: 100,
    liveRefreshesPerPeriod: 1_000,
    included: includes(10_000),
  },
  partner: {
    rpm: 600,
    concurrency: 20,
    freshnessDays: 30,
    historyDays: 365,
    enrichBatchMax: 100,
    liveRefreshesPerPeriod: 1_000,
    included: includes(0),
  },
};

/** The included units of a plan per billing period. Spec: S6.7. */
export function includedUnits({ included, liveRefreshesPerPeriod }: PlanLimits): UnitCounts {
  const { lookup_cached, history_query, refresh_requested } = included;
  return { lookup_cached, lookup_live: liveRefreshesPerPeriod, history_query, refresh_requested };
}

/** The limit at which requests of a plan are refused; undefined for partners, which are metered without a limit. */
export function allowanceOf(slug: PlanSlug, limits: PlanLimits): UnitCounts | undefined {
  return slug === 'partner' ? undefined : includedUnits(limits);
}
