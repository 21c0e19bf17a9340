import type { ExchangeScope } from '@vitrine/traces/exchange-scope';

/** The names of the counters of a key and its workspace. Ids contain no line feeds, so no two scopes share a name. */
export interface ScopeNames {
  readonly key: string;
  readonly workspace: string;
}

export function scopeNames(org_id: string, workspace_id: string, key_id: string): ScopeNames {
  const workspace = `${org_id}\n${workspace_id}`;
  return { key: `${workspace}\n${key_id}`, workspace };
}

const known = new WeakMap<ExchangeScope, ScopeNames>();

/** The names of an exchange's scope, made once for each of these objects. */
export function scopeNamesOf(scope: ExchangeScope): ScopeNames {
  const remembered = known.get(scope);
  if (remembered !== undefined) return remembered;
  const names = scopeNames(scope.org_id, scope.workspace_id, scope.gateway_key_id);
  known.set(scope, names);
  return names;
}
