import { z } from 'zod';
import { API_VERSION, statusShape, type CustomResource } from '../custom-resources/custom-resource.ts';
import type { Condition } from '../runtime/conditions.ts';
import { gatewayKeySpec } from './gateway-key-spec.ts';

export const FINALIZER = 'vitrine.dev/gateway-key';
/** Annotations of a GatewayKey set by users. */
export const ROTATE = 'vitrine.dev/rotate';
export const PAUSED = 'vitrine.dev/paused';
export const SKIP_REVOCATION = 'vitrine.dev/skip-revocation';

const gatewayKeyStatus = statusShape('Ready, SecretReady, Registered; Reconciling and Stalled while they are true')
  .extend({
    keyId: z.string().optional().describe('Id of the key.'),
    tokenPrefix: z.string().optional().describe('The first characters of the token, to recognise it.'),
    secretName: z.string().optional().describe('Secret with the token.'),
    orgId: z.string().optional().describe('Organisation of the key, from the labels of the namespace.'),
    workspaceId: z.string().optional().describe('Workspace of the key, from the labels of the namespace.'),
    lastRotationTime: z.string().optional().meta({ format: 'date-time' }).describe('When the token was made.'),
    lastHandledRotation: z.string().optional().describe('The annotation vitrine.dev/rotate at the last rotation.'),
    lastHandledTrigger: z.string().optional().describe('The value of spec.rotation.trigger at the last rotation.'),
  })
  .describe('The observed key.');

export interface GatewayKeyStatus extends Omit<z.output<typeof gatewayKeyStatus>, 'conditions'> {
  readonly conditions?: readonly Condition[] | undefined;
}

/** A GatewayKey from the API server. Its spec is parsed where it is used. */
export interface GatewayKeyObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly status?: GatewayKeyStatus;
}

const ready = (field: string) => `.status.conditions[?(@.type=="Ready")].${field}`;

export const GATEWAY_KEY: CustomResource = {
  kind: 'GatewayKey',
  plural: 'gatewaykeys',
  singular: 'gatewaykey',
  shortName: 'gk',
  description:
    'A key of the AI traffic gateway. Its token is kept in a Secret of the same namespace; its tenant is that of the namespace.',
  spec: gatewayKeySpec,
  status: gatewayKeyStatus,
  columns: [
    { name: 'Ready', type: 'string', jsonPath: ready('status'), description: 'Whether the gateway accepts the key.' },
    { name: 'Reason', type: 'string', jsonPath: ready('reason'), description: 'Why it does or does not.' },
    { name: 'Key ID', type: 'string', jsonPath: '.status.keyId', description: 'Id of the key.' },
    { name: 'Workspace', type: 'string', jsonPath: '.status.workspaceId', description: 'Workspace of the key.' },
    { name: 'Org', type: 'string', jsonPath: '.status.orgId', description: 'Organisation of the key.', priority: 1 },
    { name: 'Role', type: 'string', jsonPath: '.spec.role', description: 'Role of the key.', priority: 1 },
    { name: 'Secret', type: 'string', jsonPath: '.status.secretName', description: 'Secret with the token.', priority: 1 },
    { name: 'Prefix', type: 'string', jsonPath: '.status.tokenPrefix', description: 'Start of the token.', priority: 1 },
    { name: 'Rotated', type: 'date', jsonPath: '.status.lastRotationTime', description: 'When the token was made.', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'When the object was created.' },
  ],
  selectableFields: ['.spec.role', '.spec.secretName'],
};

export function gatewayKeyPath({ metadata: { namespace, name } }: GatewayKeyObject): string {
  return `/apis/${API_VERSION}/namespaces/${namespace}/gatewaykeys/${name}`;
}
