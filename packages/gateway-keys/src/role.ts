import { PERMISSIONS, type Permission } from './permission.ts';

/** What a role allows by itself. Any other role allows nothing. Spec: gateway decisions, section 2. */
const IMPLIED = new Map<string, readonly Permission[]>([
  ['owner', PERMISSIONS],
  ['admin', PERMISSIONS],
  ['developer', ['proxy:write', 'analytics:read']],
  ['member', ['proxy:write', 'analytics:read']],
  ['viewer', ['analytics:read']],
]);

export const DEFAULT_ROLE = 'developer';

/** What a key may do: what its role implies and what was granted beside it. */
export function effectivePermissions(role: string, granted: readonly Permission[]): ReadonlySet<Permission> {
  return new Set([...(IMPLIED.get(role) ?? []), ...granted]);
}
