import type { Queryable } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { PlanLimits } from './plan-limits.ts';

// Triggers raise the generation and notify, so every transaction that changes plans does, whichever program runs it.

/** Reasons why a plan cannot be deleted. */
export interface PlanUse {
  /** Active gateway keys. */
  readonly keys: number;
  readonly workspaces: number;
}

/** Writes a plan's row. An equal row is unchanged and does not raise the generation. */
export async function upsertPlan(transaction: Transaction, name: string, limits: PlanLimits): Promise<void> {
  const text = `INSERT INTO plans AS p (name, limits) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET limits = excluded.limits, updated_at = now() WHERE p.limits <> excluded.limits`;
  await transaction.execute(text, [name, JSON.stringify(limits)]);
}

/** Deletes a plan's row unless a key or workspace has the plan; then returns these users. A key created at the same time may keep a deleted plan.
 *  Its requests are rejected until the plan exists. */
export async function deletePlan(transaction: Transaction, name: string): Promise<PlanUse | undefined> {
  const use = await planUse(transaction, name);
  if (use.keys > 0 || use.workspaces > 0) return use;
  await transaction.execute('DELETE FROM plans WHERE name = $1', [name]);
  return undefined;
}

export async function planUse(database: Queryable, name: string): Promise<PlanUse> {
  const text = `SELECT (SELECT count(*) FROM gateway_keys WHERE plan = $1 AND revoked_at IS NULL) AS keys,
    (SELECT count(*) FROM workspace_plans WHERE plan = $1) AS workspaces`;
  const [use] = await database.query<PlanUse & Record<string, unknown>>(text, [name]);
  return use ?? { keys: 0, workspaces: 0 };
}

/** Raises the generation above `generation`, because a database restored from an older copy would otherwise stay behind the generation that
 *  consumers have applied. */
export async function raisePlanGeneration(transaction: Transaction, generation: number): Promise<void> {
  await transaction.execute('UPDATE plan_generation SET generation = $1 + 1 WHERE generation <= $1', [generation]);
}
