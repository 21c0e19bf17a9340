/** What a key and its workspace are counted under. Ids hold no line feeds, so no two scopes share a name. */
export interface ScopeNames {
  readonly key: string;
  readonly workspace: string;
}

export function scopeNames(org_id: string, workspace_id: string, key_id: string): ScopeNames {
  const workspace = `${org_id}\n${workspace_id}`;
  return { key: `${workspace}\n${key_id}`, workspace };
}

/** The same of an exchange's scope (`scopeText`), whose last line is the role. */
export function scopeNamesOf(scope: string): ScopeNames {
  const key = scope.slice(0, scope.lastIndexOf('\n'));
  return { key, workspace: key.slice(0, key.lastIndexOf('\n')) };
}
