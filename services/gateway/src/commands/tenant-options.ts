import type { Tenant } from '@vitrine/traces/exchange-scope';
import { usageError } from './command.ts';

/** Options that choose whose data a command shows. Either may stand alone. */
export const TENANT_OPTIONS = { 'org-id': { type: 'string' }, 'workspace-id': { type: 'string' } } as const;

/** What they say; undefined stands for any. */
export interface TenantFilter {
  readonly org_id: string | undefined;
  readonly workspace_id: string | undefined;
}

/** Reads them. A variable of a shell that is not set must not show everybody's data: an empty text is a usage error. */
export function tenantFilterOf(values: { readonly 'org-id'?: string; readonly 'workspace-id'?: string }): TenantFilter {
  for (const option of ['org-id', 'workspace-id'] as const)
    if (values[option] === '') throw usageError(`--${option} must not be empty`);
  return { org_id: values['org-id'], workspace_id: values['workspace-id'] };
}

export function hasTenantFilter({ org_id, workspace_id }: TenantFilter): boolean {
  return org_id !== undefined || workspace_id !== undefined;
}

export function meets({ org_id, workspace_id }: TenantFilter, tenant: Tenant): boolean {
  return (
    (org_id === undefined || org_id === tenant.org_id) && (workspace_id === undefined || workspace_id === tenant.workspace_id)
  );
}

/** A refused request of a caller who was unknown belongs to no tenant. */
export function isKnownTenant({ org_id, workspace_id }: Tenant): boolean {
  return org_id !== '' || workspace_id !== '';
}

/** The options that choose a tenant. */
export function flagsOf({ org_id, workspace_id }: TenantFilter): string {
  return [
    ...(org_id === undefined ? [] : [`--org-id ${org_id}`]),
    ...(workspace_id === undefined ? [] : [`--workspace-id ${workspace_id}`]),
  ].join(' ');
}

/** The help of these options. */
export const TENANT_HELP = `  --org-id ID          only traces of this organisation
  --workspace-id ID    only traces of this workspace
`;
