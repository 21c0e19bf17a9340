/** The owner of rows. */
export interface Tenant {
  readonly org_id: string;
  readonly workspace_id: string;
}

/** The tenant and the gateway key of an exchange. There is one object per key, so that it can be a map key. */
export interface ExchangeScope extends Tenant {
  readonly gateway_key_id: string;
  readonly role: string;
}

/** With authentication off there is one tenant. Spec: G11.13. */
export const DEFAULT_SCOPE: ExchangeScope = { org_id: 'default', workspace_id: 'default', gateway_key_id: '', role: '' };
/** A request that was rejected before its key was known belongs to no tenant. */
export const NO_SCOPE: ExchangeScope = { org_id: '', workspace_id: '', gateway_key_id: '', role: '' };
