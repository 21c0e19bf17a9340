import type { Permission } from './permission.ts';

/** Who calls, as an accepted gateway key tells: the tenant whose rows are seen, and the key. Spec: gateway, Authentication. */
export interface Identity {
  readonly org_id: string;
  readonly workspace_id: string;
  readonly key_id: string;
  readonly role: string;
  /** What the role implies and the key grants. */
  readonly permissions: ReadonlySet<Permission>;
  /** The plan whose per-key thresholds bind the key instead of the configured defaults. */
  readonly plan: string | undefined;
  /** The plan of the workspace's row, whose thresholds bind the workspace likewise. */
  readonly workspace_plan?: string | undefined;
}
