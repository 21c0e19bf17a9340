import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { PackedMark } from './packed-groups.ts';

/** The tenant of rows of `trace_sums_by_model_*` that hold the sums of all tenants. No organisation or workspace can have this id (`idText`
 *  of gateway-keys), while '' belongs to requests that were rejected before their key was known. */
export const ALL_TENANTS: Tenant = { org_id: '*', workspace_id: '*' };

/** A query for the hours or days of which only the rows of tenants are complete. */
export function unsummed(unit: 'hour' | 'day'): string {
  return `SELECT date_trunc('${unit}', hour, 'UTC') FROM trace_hours WHERE NOT ${unit}_is_summed`;
}

/** A query for the hours or days of which packed rows are not complete. */
export function unpacked(unit: 'hour' | 'day', mark: PackedMark): string {
  return `SELECT date_trunc('${unit}', hour, 'UTC') FROM trace_hours WHERE NOT ${unit}_${mark}`;
}
