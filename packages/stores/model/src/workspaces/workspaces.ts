import type { Queryable } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import { createId } from '../identifiers.ts';
import type { PlanSlug } from '../resources/enumerations.ts';

/** A customer, the owner of keys, usage and bills. Times are milliseconds since the epoch. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanSlug;
  readonly anchor_day: number;
  readonly gateway_org_id: string;
  readonly gateway_workspace_id: string;
  readonly created_at: number;
}

interface WorkspaceToCreate extends Pick<Workspace, 'name' | 'plan' | 'gateway_org_id' | 'gateway_workspace_id'> {
  /** Address of the first admin, in lower case. */
  readonly admin_email: string;
  readonly at: number;
  readonly random: (bytes: number) => Uint8Array;
}

const COLUMNS = 'id, name, plan, anchor_day, gateway_org_id, gateway_workspace_id, created_at';

/** Creates a workspace, whose billing periods start on the day of its creation, and its first admin. */
export async function createWorkspace(transaction: Transaction, request: WorkspaceToCreate): Promise<Workspace> {
  const { name, plan, admin_email, gateway_org_id, gateway_workspace_id, at, random } = request;
  const anchorDay = new Date(at).getUTCDate();
  const id = createId('ws', at, random);
  const workspace: Workspace = { id, name, plan, anchor_day: anchorDay, gateway_org_id, gateway_workspace_id, created_at: at };
  const text = `INSERT INTO workspaces (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;
  await transaction.execute(text, [id, name, plan, anchorDay, gateway_org_id, gateway_workspace_id, new Date(at)]);
  const member = `INSERT INTO members (workspace_id, email, role, created_at) VALUES ($1, $2, 'admin', $3)`;
  await transaction.execute(member, [id, admin_email, new Date(at)]);
  return workspace;
}

interface ListedWorkspace extends Workspace {
  readonly admins: readonly string[];
}

/** All workspaces, oldest first. */
export function listWorkspaces(database: Queryable): Promise<ListedWorkspace[]> {
  return database.query<ListedWorkspace>(`SELECT ${COLUMNS},
      ARRAY(SELECT email FROM members m WHERE m.workspace_id = w.id AND role = 'admin' ORDER BY email) AS admins
    FROM workspaces w ORDER BY id`);
}
