import { PERMISSIONS } from '@vitrine/gateway-keys/permission';
import { DEFAULT_ROLE } from '@vitrine/gateway-keys/role';
import { z } from 'zod';
import { API_VERSION, celRules, statusShape, type CustomResource } from '../custom-resources/custom-resource.ts';
import type { Condition } from '../runtime/conditions.ts';

export const FINALIZER = 'vitrine.dev/gateway-key';
/** Annotations of a GatewayKey set by users. */
export const ROTATE = 'vitrine.dev/rotate';
export const PAUSED = 'vitrine.dev/paused';
export const SKIP_REVOCATION = 'vitrine.dev/skip-revocation';

/** RFC 1123. */
const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
const duration = z
  .string()
  .max(16)
  .regex(/^[0-9]{1,6}(s|m|h)$/);
const idText = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_.:-]+$/);
const labels = z.record(z.string(), z.string().max(63));

export const gatewayKeySpec = z
  .object({
    keyId: idText
      .optional()
      .describe(
        'Id of the key in lists, traces and logs; it can never be used again, also after revocation. Default: gk_ and 16 hexadecimal digits made of the uid of this object.',
      ),
    displayName: z.string().max(256).optional().describe('Name of the key in lists.'),
    description: z.string().max(2_048).optional().describe('Purpose of the key.'),
    role: idText
      .default(DEFAULT_ROLE)
      .describe(
        'Implies permissions: owner and admin all, developer and member proxy:write and analytics:read, viewer analytics:read; any other role none.',
      ),
    permissions: z
      .array(
        z
          .string()
          .max(64)
          .regex(/^[a-z][a-z-]*:[a-z][a-z-]*$/),
      )
      .max(32)
      .default([])
      .meta({ 'x-kubernetes-list-type': 'set' })
      .describe(
        `Permissions in addition to those that the role implies: ${PERMISSIONS.join(', ')}. An unknown one is refused in the condition Ready.`,
      ),
    plan: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe('Plan with the usage limits of this key; without one the configured limits apply.'),
    secretName: objectName
      .optional()
      .describe(
        'Secret of this namespace that receives the token in its key "token". Default: the name of this object and -gateway-key.',
      ),
    secretTemplate: z
      .object({
        labels: labels.optional().describe('Additional labels of the Secret.'),
        annotations: z.record(z.string(), z.string().max(4_096)).optional().describe('Additional annotations of the Secret.'),
      })
      .optional()
      .describe('Metadata of the Secret.'),
    tokenSecretRef: z
      .object({
        name: objectName.describe('Name of the Secret.'),
        key: z
          .string()
          .min(1)
          .max(253)
          .default('token')
          .describe('Key of the Secret that contains the token: 24 to 256 visible ASCII characters without spaces and commas.'),
      })
      .optional()
      .describe('A Secret of this namespace with a token of your own, instead of a generated one. It is read once a minute.'),
    rotation: z
      .object({
        trigger: z
          .string()
          .max(256)
          .optional()
          .describe('Any text. Changing it rotates the token once. The annotation vitrine.dev/rotate does the same.'),
        interval: duration
          .meta(celRules({ rule: "duration(self) >= duration('1h')", message: 'must be at least 1h' }))
          .optional()
          .describe('How often the token is rotated, such as 720h; at least 1h. Default: never.'),
        gracePeriod: duration
          .meta(celRules({ rule: "duration(self) <= duration('24h')", message: 'must be at most 24h' }))
          .default('2m')
          .describe(
            'How long the old token is accepted after a rotation, at most 24h: programs see a changed Secret up to 90 s late.',
          ),
      })
      .optional()
      .describe('When the token is rotated.'),
    deletionPolicy: z
      .enum(['Revoke', 'Orphan'])
      .default('Revoke')
      .describe('Effect of deleting this object: Revoke revokes the key, Orphan keeps key and Secret.'),
    adoptionPolicy: z
      .enum(['Never', 'IfSameTenant'])
      .default('Never')
      .describe('Whether this object may take over a key of its id that was made over REST, if it is of the same tenant.'),
  })
  .meta(
    celRules(
      {
        rule: 'has(self.keyId) == has(oldSelf.keyId) && (!has(self.keyId) || self.keyId == oldSelf.keyId)',
        message: 'keyId is immutable; make another GatewayKey',
      },
      {
        rule: 'has(self.secretName) == has(oldSelf.secretName) && (!has(self.secretName) || self.secretName == oldSelf.secretName)',
        message: 'secretName is immutable; make another GatewayKey',
      },
      {
        rule: 'has(self.tokenSecretRef) == has(oldSelf.tokenSecretRef)',
        message: 'tokenSecretRef can be neither added nor removed; make another GatewayKey',
      },
      {
        rule: '!has(self.tokenSecretRef) || (!has(self.secretName) && !has(self.secretTemplate))',
        message: 'tokenSecretRef excludes secretName and secretTemplate: the Secret is yours',
      },
      {
        rule: '!has(self.tokenSecretRef) || !has(self.rotation) || (!has(self.rotation.trigger) && !has(self.rotation.interval))',
        message: 'tokenSecretRef excludes rotation.trigger and rotation.interval: change the Secret to rotate',
      },
      {
        rule: "!has(self.keyId) || !(self.keyId.lowerAscii() in ['system', 'operator', '.', '..'])",
        message: 'keyId must not be system, operator, . or ..',
      },
    ),
  )
  .describe('The desired key.');
export type GatewayKeySpec = z.output<typeof gatewayKeySpec>;

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
