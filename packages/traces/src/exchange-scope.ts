/** Whose rows they are. */
export interface Tenant {
  readonly org_id: string;
  readonly workspace_id: string;
}

/** Whose exchange it was: what the accepted gateway key told. */
export interface ExchangeScope extends Tenant {
  readonly gateway_key_id: string;
  readonly role: string;
}

/** With authentication off there is one tenant. Spec: gateway decisions, section 5. */
export const DEFAULT_SCOPE = scopeText({ org_id: 'default', workspace_id: 'default', gateway_key_id: '', role: '' });
/** A request that was refused before anybody was known belongs to no tenant. */
export const NO_SCOPE = scopeText({ org_id: '', workspace_id: '', gateway_key_id: '', role: '' });

/** The scope as one text, made once a key and not once an exchange. Ids hold no line feeds. */
export function scopeText({ org_id, workspace_id, gateway_key_id, role }: ExchangeScope): string {
  return [org_id, workspace_id, gateway_key_id, role].join('\n');
}

/** The workspace of a scope that `scopeText` wrote, without reading the rest. */
export function workspaceIdOf(text: string): string {
  const start = text.indexOf('\n') + 1;
  return text.slice(start, text.indexOf('\n', start));
}

/** The scope that `scopeText` wrote. */
export function readScope(text: string): ExchangeScope {
  const [org_id = '', workspace_id = '', gateway_key_id = '', role = ''] = text.split('\n');
  return { org_id, workspace_id, gateway_key_id, role };
}
