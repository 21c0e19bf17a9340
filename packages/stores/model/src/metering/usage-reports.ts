import type { Queryable } from '@vitrine/postgres/connection';
import { BILLING_UNITS, type UnitCounts } from '../resources/billing.ts';
import type { PlanLimits } from '@vitrine/plans/plan-limits';
import { DEFAULT_PLAN_LIMITS, includedUnits } from '../default-plan-limits.ts';
import type { PlanSlug } from '../resources/enumerations.ts';

const SUMS = BILLING_UNITS.map((unit) => `count(*) FILTER (WHERE unit = '${unit}') AS ${unit}`).join(', ');
const KEY_SUMS = BILLING_UNITS.map((unit) => `sum(${unit})::bigint AS ${unit}`).join(', ');
const DIFFERS = (other: string) => BILLING_UNITS.map((unit) => `c.${unit} IS DISTINCT FROM ${other}.${unit}`).join(' OR ');
const asJson = (table: string) =>
  `json_build_object(${BILLING_UNITS.map((unit) => `'${unit}', coalesce(${table}.${unit}, 0)`).join(', ')})`;

export interface KeyUsage extends UnitCounts {
  readonly key_id: string;
  readonly label: string;
}

/** What each key of a workspace has consumed in a billing period; including revoked keys. */
export function readUsageByKey(database: Queryable, workspaceId: string, periodStartsAt: number): Promise<KeyUsage[]> {
  const units = BILLING_UNITS.map((unit) => `u.${unit}`).join(', ');
  const text = `SELECT u.key_id, k.label, ${units} FROM usage_by_key u JOIN api_keys k ON k.id = u.key_id
    WHERE u.workspace_id = $1 AND u.starts_at = $2 ORDER BY u.key_id`;
  return database.query<KeyUsage>(text, [workspaceId, new Date(periodStartsAt)]);
}

/** A billing period whose counters and ledger differ. */
interface UsageDifference {
  readonly workspace_id: string;
  readonly starts_at: number;
  readonly counters: UnitCounts;
  readonly by_key: UnitCounts;
  readonly ledger: UnitCounts;
}

/** Adds up the whole ledger and compares it with the counters of workspaces and keys; takes seconds for millions of rows. */
export function reconcileUsage(database: Queryable): Promise<UsageDifference[]> {
  return database.query<UsageDifference>(`WITH l AS (
      SELECT workspace_id, period_starts_at AS starts_at, ${SUMS} FROM ledger GROUP BY 1, 2
    ), k AS (
      SELECT workspace_id, starts_at, ${KEY_SUMS} FROM usage_by_key GROUP BY 1, 2
    )
    SELECT workspace_id, starts_at, ${asJson('c')} AS counters, ${asJson('k')} AS by_key, ${asJson('l')} AS ledger
    FROM usage_counters c FULL JOIN l USING (workspace_id, starts_at) FULL JOIN k USING (workspace_id, starts_at)
    WHERE ${DIFFERS('l')} OR ${DIFFERS('k')} ORDER BY workspace_id, starts_at`);
}

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
