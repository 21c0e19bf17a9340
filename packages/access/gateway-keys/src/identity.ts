import type { Permission } from './permission.ts';

/** The caller that an accepted gateway key identifies: its tenant and the key. Spec: G9.6. */
export interface Identity {
  readonly org_id: string;
  readonly workspace_id: string;
  readonly key_id: string;
  readonly role: string;
  /** Those that the role implies and those granted to the key. */
  readonly permissions: ReadonlySet<Permission>;
  /** The plan whose per-key thresholds apply instead of the configured defaults. */
  readonly plan: string | undefined;
}
