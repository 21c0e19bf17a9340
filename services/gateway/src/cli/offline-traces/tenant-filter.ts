import type { Tenant } from '@vitrine/traces/exchange-scope';

/** Selects tenants; undefined matches any. */
export interface TenantFilter {
  readonly org_id: string | undefined;
  readonly workspace_id: string | undefined;
}

export function hasTenantFilter({ org_id, workspace_id }: TenantFilter): boolean {
  return org_id !== undefined || workspace_id !== undefined;
}

export function matchesTenant({ org_id, workspace_id }: TenantFilter, tenant: Tenant): boolean {
  return (
    (org_id === undefined || org_id === tenant.org_id) && (workspace_id === undefined || workspace_id === tenant.workspace_id)
  );
}

/** Rejected requests of unknown callers belong to no tenant. */
export function isKnownTenant({ org_id, workspace_id }: Tenant): boolean {
  return org_id !== '' || workspace_id !== '';
}

/** The command line options that select a tenant. */
export function tenantFlags({ org_id, workspace_id }: TenantFilter): string {
  const flags = Object.entries({ 'org-id': org_id, 'workspace-id': workspace_id });
  return flags.flatMap(([name, id]) => (id === undefined ? [] : [`--${name} ${id}`])).join(' ');
}
