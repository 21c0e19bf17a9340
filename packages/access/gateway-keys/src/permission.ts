/** The permissions of gateway keys. Spec: G9.4. */
export const PERMISSIONS = ['proxy:write', 'analytics:read', 'keys:manage'] as const;
export type Permission = (typeof PERMISSIONS)[number];
