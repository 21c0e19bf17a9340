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
