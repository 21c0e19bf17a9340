import type { Tenant } from '@vitrine/traces/exchange-scope';

/** The tenant of rows of `trace_sums_by_model_*` that hold the sums of all tenants. No organisation or workspace can have this id (`idText`
 *  of gateway-keys), while '' belongs to requests that were rejected before their key was known. */
export const ALL_TENANTS: Tenant = { org_id: '*', workspace_id: '*' };
