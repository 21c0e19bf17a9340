/** The names of the counters of a key and its workspace. Ids contain no line feeds, so no two scopes share a name. */
export interface ScopeNames {
  readonly key: string;
  readonly workspace: string;
}

export function scopeNames(org_id: string, workspace_id: string, key_id: string): ScopeNames {
  const workspace = `${org_id}\n${workspace_id}`;
  return { key: `${workspace}\n${key_id}`, workspace };
}

/** Requests a minute; 0 for no limit. */
export interface RateLimits {
  readonly key: number;
  readonly workspace: number;
}

/** Undefined: admitted. Otherwise the limit that is exceeded and until when, or that the request cannot be counted. */
export type RateResult = { readonly scope: 'key' | 'workspace'; readonly waitMs: number } | 'unavailable' | undefined;

/** Counts requests by key and workspace over a sliding minute. The counter of one process responds synchronously. A shared counter may return a
 *  promise, which must resolve within a bound and must not reject. Spec: G10.4, G10.7. */
export interface RequestCounter {
  /** An admitted request counts for key and workspace. A rejected one counts for neither: a busy workspace must not use up the limits of
   *  its keys. */
  admit(names: ScopeNames, limits: RateLimits): RateResult | Promise<RateResult>;
}
