import type { ManagedKey, ManagedKeyFields } from '@vitrine/gateway-keys/managed-key';
import type { ConditionReason } from '../runtime/conditions.ts';
import type { GatewayKeyObject } from './gateway-key-resource.ts';
import type { GatewayKeySpec } from './gateway-key-spec.ts';
import { type Permission, PERMISSIONS } from '@vitrine/gateway-keys/permission';
import type { Tenant } from '@vitrine/traces/exchange-scope';

/** Which of the row's tokens a Secret contains: `other` is a different token, `malformed` is not a valid token. */
export type TokenState = 'current' | 'next' | 'other' | 'malformed';

/** The fields of a Secret that are read and written. */
export interface SecretObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

export interface ObservedSecret {
  /** Whether the GatewayKey of this uid owns it. With `tokenSecretRef` it belongs to a user, and this has no meaning. */
  readonly isOwn: boolean;
  /** Whether it was left behind by a GatewayKey with this key id. */
  readonly isOrphan: boolean;
  readonly token: TokenState;
  /** How the token begins; '' without one. */
  readonly prefix: string;
  /** When its token was created, milliseconds since the epoch, and for which requests. */
  readonly rotatedAt: number | undefined;
  readonly handledRotation: string | undefined;
  readonly handledTrigger: string | undefined;
  /** Whether it has the owner, labels and annotations that it should have. */
  readonly isDescribed: boolean;
}

/** The observed state of one key and its environment. Each step replaces the parts that it wrote. */
export interface ObservedResources {
  object: GatewayKeyObject;
  namespace: NamespaceObject | undefined;
  secret: SecretObject | undefined;
  row: ManagedKey | undefined;
  hasPlan: boolean;
  problem: ConditionReason | undefined;
}

/** All inputs of a decision. */
export interface ObservedKey {
  readonly object: GatewayKeyObject;
  readonly keyId: string;
  /** A problem if the spec is invalid. */
  readonly spec: GatewayKeySpec | ConditionReason;
  /** Undefined while the object is deleted or paused. */
  readonly tenant: NamespaceTenant | undefined;
  /** Undefined only if the API server reported that it does not exist. */
  readonly secret: ObservedSecret | undefined;
  readonly row: ManagedKey | undefined;
  /** The wanted content of the row; undefined if spec or tenant are unknown. */
  readonly fields: ManagedKeyFields | undefined;
  /** Whether the peppers can verify the row's token. */
  readonly isPepperKnown: boolean;
  /** False where the spec names a plan that does not exist. */
  readonly hasPlan: boolean;
  /** Of the row's next token, while this process has it. */
  readonly stagedAt: number | undefined;
  /** The result of the last step. */
  readonly problem: ConditionReason | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long gateways may take to accept a staged token. */
  readonly propagationMs: number;
}

export function isConditionReason(value: object): value is ConditionReason {
  return 'reason' in value;
}

const ORG_LABEL = 'vitrine.dev/org';
const WORKSPACE_LABEL = 'vitrine.dev/workspace';
const CEILING_ANNOTATION = 'vitrine.dev/permission-ceiling';
/** Without an annotation: the right to create GatewayKeys must not include the right to manage all keys of the tenant. */
const DEFAULT_CEILING: readonly Permission[] = ['proxy:write', 'analytics:read'];

/** What is read of a Namespace. */
export interface NamespaceObject {
  readonly metadata?: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: Date | string;
  };
}

interface NamespaceTenant {
  /** Undefined when the namespace belongs to none. */
  readonly tenant: Tenant | undefined;
  /** What keys of the namespace may be permitted at most. */
  readonly ceiling: ReadonlySet<Permission>;
  /** Nothing can be created in it any more. */
  readonly isTerminating: boolean;
}

/** The tenant that the labels of a namespace name, else the default one. Half a label is no tenant. */
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
