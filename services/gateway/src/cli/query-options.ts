import { stringOption, usageError } from '@vitrine/command-line/command';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { z } from 'zod';
import { readQuery } from '@vitrine/http-api/requests/query-shapes';
import type { TenantFilter } from './offline-traces/tenant-filter.ts';

/** Options that limit the time. */
export const RANGE_OPTIONS = {
  from: stringOption('TIME', 'not before: RFC 3339, or YYYY-MM-DD for the first moment of a day (UTC)'),
  to: stringOption('TIME', 'not after: RFC 3339, or YYYY-MM-DD for its last'),
};

/** Options that filter by tenant. Either may be given alone. `items`: what is filtered. */
export const tenantOptions = (items: string) => ({
  'org-id': stringOption('ID', `only ${items} of this organisation`),
  'workspace-id': stringOption('ID', `only ${items} of this workspace`),
});

export function tenantFilterOf(values: { readonly 'org-id'?: string; readonly 'workspace-id'?: string }): TenantFilter {
  return { org_id: values['org-id'], workspace_id: values['workspace-id'] };
}

/** Options with the rules of the admin API's query parameters of the same names; others are usage errors. */
export function queryOptions<S extends z.ZodType>(shape: S, options: Readonly<Record<string, unknown>>): z.output<S> {
  try {
    return readQuery(shape, options);
  } catch (error) {
    throw codeOf(error) === 'invalid_query' ? usageError(messageOf(error)) : error;
  }
}
