import { type Permission, PERMISSIONS } from '@vitrine/gateway-keys/permission';
import type { Tenant } from '@vitrine/traces/exchange-scope';

const ORG_LABEL = 'vitrine.dev/org';
const WORKSPACE_LABEL = 'vitrine.dev/workspace';
const CEILING_ANNOTATION = 'vitrine.dev/permission-ceiling';
/** Without an annotation: the right to create GatewayKeys must not include the right to manage all keys of the tenant. */
const DEFAULT_CEILING: readonly Permission[] = ['proxy:write', 'analytics:read'];

/** The fields read from a Namespace. */
export interface NamespaceObject {
  readonly metadata?: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: Date | string;
  };
}

export interface NamespaceTenant {
  /** Undefined when the namespace belongs to no tenant. */
  readonly tenant: Tenant | undefined;
  /** Maximum permissions of keys in the namespace. */
  readonly ceiling: ReadonlySet<Permission>;
  /** No object can be created in it any more. */
  readonly isTerminating: boolean;
}

/** The tenant that the labels of a namespace name, else the default one. A single label does not name a tenant. */
export function namespaceTenant(namespace: NamespaceObject | undefined, defaultTenant: Tenant | undefined): NamespaceTenant {
  const { labels = {}, annotations = {}, deletionTimestamp } = namespace?.metadata ?? {};
  const { [ORG_LABEL]: org_id, [WORKSPACE_LABEL]: workspace_id } = labels;
  const isLabelled = org_id !== undefined || workspace_id !== undefined;
  const named = org_id && workspace_id ? { org_id, workspace_id } : undefined;
  const ceiling = annotations[CEILING_ANNOTATION]?.split(',').map((permission) => permission.trim().toLowerCase());
  return {
    tenant: isLabelled ? named : defaultTenant,
    ceiling: new Set(ceiling === undefined ? DEFAULT_CEILING : PERMISSIONS.filter((permission) => ceiling.includes(permission))),
    isTerminating: namespace === undefined || deletionTimestamp !== undefined,
  };
}
