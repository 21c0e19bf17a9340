import { expect, test } from '@jest/globals';
import { planLimits } from '@vitrine/plans/plan-limits';
import { DEFAULT_PLAN_LIMITS, allowanceOf } from './default-plan-limits.ts';
import type { PlanSlug } from './resources/enumerations.ts';

test.each<[PlanSlug, number, number, number, number, number, number, number]>([
  ['free', 30, 2, 25, 30, 30, 0, 25],
  ['pro', 120, 5, 100, 30, 90, 100, 2_500],
  ['growth', 300, 10, 100, 30, 365, 1_000, 10_000],
  ['partner', 600, 20, 100, 30, 365, 1_000, 0],
])(
  'the plan %s has the limits of the specification and its decisions',
  (slug, rpm, concurrency, batch, fresh, history, live, cached) => {
    const limits = DEFAULT_PLAN_LIMITS[slug];
    expect(planLimits.parse(limits)).toEqual(limits);
    expect(limits).toEqual({
      rpm,
      concurrency,
      enrichBatchMax: batch,
      freshnessDays: fresh,
      historyDays: history,
      liveRefreshesPerPeriod: live,
      included: { lookup_cached: cached, history_query: 0, refresh_requested: 0 },
    });
    const included = { lookup_cached: cached, lookup_live: live, history_query: 0, refresh_requested: 0 };
    expect(allowanceOf(slug, limits)).toEqual(slug === 'partner' ? undefined : included);
  },
);
