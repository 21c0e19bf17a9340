import type { PlanLimits } from '@vitrine/plans/plan-limits';
import type { Queryable } from '@vitrine/postgres/connection';
import { DEFAULT_PLAN_LIMITS, includedUnits } from '../default-plan-limits.ts';
import { BILLING_UNITS, type UnitCounts } from '../resources/billing.ts';
import type { PlanSlug } from '../resources/enumerations.ts';

/** What a workspace has consumed in its current billing period. Times are milliseconds since the epoch. */
export interface WorkspaceUsage {
  readonly workspace_id: string;
  readonly name: string;
  readonly plan: PlanSlug;
  readonly starts_at: number;
  readonly ends_at: number;
  readonly included: UnitCounts;
  readonly used: UnitCounts;
}

type UsageRow = Omit<WorkspaceUsage, 'included' | 'used'> & UnitCounts & { readonly limits: PlanLimits | null };

const SELECT = `SELECT w.id AS workspace_id, w.name, w.plan, p.starts_at, billing_period_start(w.anchor_day, p.starts_at + interval '35 days') AS ends_at,
    l.limits, ${BILLING_UNITS.map((unit) => `coalesce(c.${unit}, 0) AS ${unit}`).join(', ')}
  FROM workspaces w CROSS JOIN LATERAL (SELECT billing_period_start(w.anchor_day, $2::timestamptz) AS starts_at) p
  LEFT JOIN usage_counters c ON c.workspace_id = w.id AND c.starts_at = p.starts_at LEFT JOIN plans l ON l.name = w.plan
  WHERE $1::text IS NULL OR w.id = $1 ORDER BY w.id`;

/** Of one workspace, or of all. */
export async function readWorkspaceUsage(
  database: Queryable,
  workspaceId: string | undefined,
  nowMs: number,
): Promise<WorkspaceUsage[]> {
  const rows = await database.query<UsageRow>(SELECT, [workspaceId ?? null, new Date(nowMs)]);
  return rows.map(({ limits, lookup_cached, lookup_live, history_query, refresh_requested, ...workspace }) => ({
    ...workspace,
    included: includedUnits(limits ?? DEFAULT_PLAN_LIMITS[workspace.plan]),
    used: { lookup_cached, lookup_live, history_query, refresh_requested },
  }));
}
