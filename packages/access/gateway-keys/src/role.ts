import { PERMISSIONS, type Permission } from './permission.ts';

/** The permissions that a role implies. Other roles imply none. Spec: G9.5. */
const IMPLIED = new Map<string, readonly Permission[]>([
  ['owner', PERMISSIONS],
  ['admin', PERMISSIONS],
  ['developer', ['proxy:write', 'analytics:read']],
  ['member', ['proxy:write', 'analytics:read']],
  ['viewer', ['analytics:read']],
]);

/** The roles that imply permissions. */
export const KNOWN_ROLES: readonly string[] = [...IMPLIED.keys()];
export const DEFAULT_ROLE = 'developer';

/** The permissions that the role implies and those granted in addition. */
export function effectivePermissions(role: string, granted: readonly Permission[]): ReadonlySet<Permission> {
  return new Set([...(IMPLIED.get(role) ?? []), ...granted]);
}
