import type { TenantFilter } from '../offline-traces/tenant-filter.ts';

/** Options that filter by tenant. Either may be given alone. */
export const TENANT_OPTIONS = { 'org-id': { type: 'string' }, 'workspace-id': { type: 'string' } } as const;

export const TENANT_HELP = `  --org-id ID          only traces of this organisation
  --workspace-id ID    only traces of this workspace
`;

export function tenantFilterOf(values: { readonly 'org-id'?: string; readonly 'workspace-id'?: string }): TenantFilter {
  return { org_id: values['org-id'], workspace_id: values['workspace-id'] };
}
