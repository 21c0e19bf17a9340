/** The permissions of gateway keys. Spec: gateway, Authentication; decisions, section 2. */
export const PERMISSIONS = ['proxy:write', 'analytics:read', 'keys:manage'] as const;
export type Permission = (typeof PERMISSIONS)[number];
