import type { Queryable } from '@vitrine/postgres/connection';
import { MAX_PLANS } from './plan-document.ts';

/** The channel on which every change of plans and of workspaces' plans is notified. */
export const PLAN_CHANNEL = 'plans';
/** Every gateway process has all of them in memory. */
const MAX_WORKSPACE_PLANS = 50_000;

/** Which plan a workspace has. */
export interface WorkspacePlan {
  readonly org_id: string;
  readonly workspace_id: string;
  readonly plan: string;
}

/** All rows at one generation, not validated. */
export interface PlanRows {
  readonly generation: number;
  readonly plans: Readonly<Record<string, unknown>>;
  readonly workspaces: readonly WorkspacePlan[];
}

export async function hasPlanRow(database: Queryable, name: string): Promise<boolean> {
  return (await database.query('SELECT FROM plans WHERE name = $1', [name])).length > 0;
}

/** The names of all plans, as one text. */
export async function planNamesText(database: Queryable): Promise<string> {
  const [row] = await database.query<{ names: string }>(
    "SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') AS names FROM plans",
  );
  return row?.names ?? '';
}

/** The generation of the last change. */
export async function readPlanGeneration(database: Queryable): Promise<number> {
  const [row] = await database.query<{ generation: number }>('SELECT generation FROM plan_generation');
  return row?.generation ?? 0;
}

// One statement has one snapshot. One row beyond the bounds shows that there are too many.
const READ_ROWS = `SELECT generation,
  (SELECT coalesce(jsonb_object_agg(name, limits), '{}') FROM (SELECT name, limits FROM plans LIMIT $1) p) AS plans,
  (SELECT coalesce(jsonb_agg(jsonb_build_array(org_id, workspace_id, plan)), '[]')
    FROM (SELECT org_id, workspace_id, plan FROM workspace_plans LIMIT $2) w) AS workspaces
FROM plan_generation`;

export async function readPlanRows(database: Queryable): Promise<PlanRows> {
  const [row] = await database.query<Omit<PlanRows, 'workspaces'> & { workspaces: [string, string, string][] }>(READ_ROWS, [
    MAX_PLANS + 1,
    MAX_WORKSPACE_PLANS + 1,
  ]);
  if (row === undefined) throw new Error('the table plan_generation has no row: restore it, or run npm run migrate');
  if (row.workspaces.length > MAX_WORKSPACE_PLANS) throw new Error(`more than ${MAX_WORKSPACE_PLANS} workspaces have a plan`);
  const workspaces = row.workspaces.map(([org_id, workspace_id, plan]) => ({ org_id, workspace_id, plan }));
  return { generation: row.generation, plans: row.plans, workspaces };
}
